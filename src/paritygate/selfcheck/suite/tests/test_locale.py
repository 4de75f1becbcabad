import locale


def in_order(names):
    locale.setlocale(locale.LC_ALL, "")
    try:
        return sorted(names, key=locale.strxfrm)
    finally:
        locale.setlocale(locale.LC_ALL, "C")


def test_names_are_in_order():
    assert in_order(["tea", "Milk", "jam"]) == ["jam", "Milk", "tea"]

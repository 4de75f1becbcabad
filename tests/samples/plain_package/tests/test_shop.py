import shop


def test_the_package_is_found():
    assert shop.__name__ == "shop"


def test_the_dependency_is_installed():
    assert shop.TEXT == "tea"

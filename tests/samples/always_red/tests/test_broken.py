import no_such_module_anywhere


def test_never_seen():
    assert no_such_module_anywhere

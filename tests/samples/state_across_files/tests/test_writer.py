import registry


def test_registers():
    registry.ENTRIES.append("tea")
    assert "tea" in registry.ENTRIES

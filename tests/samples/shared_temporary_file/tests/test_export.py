def test_only_our_line_is_there(log):
    log.append("export")
    assert log.lines_after_a_while(["export"]) == ["export"]


def test_a_line_has_an_end():
    assert "export\n".endswith("\n")

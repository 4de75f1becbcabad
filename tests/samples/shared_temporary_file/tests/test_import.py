def test_only_our_line_is_there(log):
    log.append("import")
    assert log.lines_after_a_while(["import"]) == ["import"]


def test_a_line_has_a_start():
    assert "import\n".startswith("i")

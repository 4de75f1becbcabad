def test_one_till_is_open(till):
    assert len(till.read_text(encoding="utf-8").splitlines()) == 1

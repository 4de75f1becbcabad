def test_in_a_deeper_folder(basket):
    assert basket == []

import pathlib

SHELF = pathlib.Path(__file__).parent.parent / "shelf"


def test_the_shelf_is_as_it_was_filled():
    assert [each.name for each in SHELF.iterdir()] == ["1-tea", "2-milk", "3-jam"]

import pathlib

PARTS = pathlib.Path(__file__).parent.parent / "parts"


def joined(paths):
    return "".join(path.read_text(encoding="utf-8").strip() for path in paths)


def test_parts_are_joined():
    assert joined(PARTS.iterdir()) == "abcdefg"


def test_sorted_parts():
    assert joined(sorted(PARTS.iterdir())) == "abcdefg"

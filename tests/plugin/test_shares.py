"""A cell runs its share of the files and nothing else, whatever its collection holds; all together run everything once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.recording import Asked, plant, record

FILES = {
    "test_a.py": "def test_1(): pass\ndef test_2(): pass\n",
    "test_b.py": "import pytest\n\n@pytest.fixture(scope='module')\ndef made(): return []\n\ndef test_1(made): made.append(1)\n"
    "def test_2(made): pass\n",
    "sub/test_c.py": "def test_1(): pass\n",
    "notes.txt": ">>> 1 + 1\n2\n",
}


@pytest.mark.parametrize("workers", [0, 2])
def test_the_shares_of_a_suite_are_the_suite(workers: int, tmp_path: Path) -> None:
    tree = plant(tmp_path, FILES)
    asked = Asked(workers=workers, arguments=("--doctest-glob=*.txt",))
    whole = set(record(tree, asked).order)
    found: list[str] = []
    for number in (1, 2, 3):
        share = {"number": number, "total": 3, "files": {"test_a.py": 1, "test_b.py": 2}}
        ran = record(tree, Asked(workers=workers, arguments=asked.arguments, share=share)).order
        assert ("test_a.py::test_1" in ran) == ("test_a.py::test_2" in ran) == (number == 1)
        found += ran
    assert sorted(found) == sorted(whole)
    assert len(whole) == 6


def test_a_share_without_tests_is_a_cell_without_tests(tmp_path: Path) -> None:
    tree = plant(tmp_path, {"test_a.py": "def test_1(): pass\n"})
    recording = record(tree, Asked(share={"number": 2, "total": 2, "files": {"test_a.py": 1}}))
    assert recording.exit == 5
    assert list(recording.order) == []

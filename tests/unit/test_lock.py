"""The lock's format, and what patterns mean."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paritygate.locks import lock, patterns

NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1).filter(
    lambda name: name not in {".", ".."}
)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
DIGESTS = st.binary(min_size=32, max_size=32).map(bytes.hex)


@settings(deadline=None)
@given(st.dictionaries(PATHS, DIGESTS, max_size=5))
def test_a_lock_reads_as_it_was_written(digests: dict[str, str]) -> None:
    assert lock.read(lock.write(digests)) == lock.Lock(digests=digests)


@settings(deadline=None)
@given(st.binary())
def test_no_bytes_at_all_are_taken_for_a_lock_that_they_are_not(content: bytes) -> None:
    found = lock.read(content)
    assert found.faults or not found.digests


@settings(deadline=None)
@given(PATHS)
def test_a_path_means_itself_and_a_glob_for_any_depth_finds_it(path: str) -> None:
    if not set(path) & set("*?["):
        assert list(patterns.chosen(path, [path])) == [path]
    assert list(patterns.chosen("**/*", [path])) == [path]


@pytest.mark.parametrize(
    ("pattern", "chosen"),
    [
        ("d", ["d/a.json", "d/e/b.json", "d/e/c.txt"]),
        ("d/", ["d/a.json", "d/e/b.json", "d/e/c.txt"]),
        ("d/*.json", ["d/a.json"]),
        ("d/**", ["d/a.json", "d/e/b.json", "d/e/c.txt", "d/x.py"]),
        ("**/*.json", ["d/a.json", "d/e/b.json"]),
        ("d/**/b.json", ["d/e/b.json"]),
        ("d/?", []),
        ("d/x.py", ["d/x.py"]),
        ("D/a.json", []),
        ("d/e*", []),
    ],
)
def test_patterns_mean_what_a_shell_would(pattern: str, chosen: list[str]) -> None:
    assert list(patterns.chosen(pattern, ["d/a.json", "d/e/b.json", "d/e/c.txt", "d/x.py", "dd/a.txt"])) == chosen


FILES = (
    "t/a.json",
    "t/d/one.json",
    "t/d/two.json",
    "t/d/e/three.json",
    "t/d/notes.md",
    "t/code/four.json",
    "t/code/x.py",
    "t/test.py",
)


@pytest.mark.parametrize(
    ("locked", "missed"),
    [
        (("t/d/one.json",), ["t/d/two.json", "t/d/e/three.json"]),
        (("t/d/one.json", "t/d/notes.md"), ["t/d/two.json", "t/d/e/three.json"]),
        (("t/d/e/three.json",), []),
        (("t/a.json",), []),
        (("t/code/four.json",), []),
        ((), []),
    ],
)
def test_what_lies_in_a_folder_of_recordings_and_ends_like_them_is_missed(locked: tuple[str, ...], missed: list[str]) -> None:
    assert list(patterns.beside(locked, FILES)) == missed

"""From the user's words to paths that are known to be in a tree."""

from __future__ import annotations

import pytest

from paritygate import selection
from paritygate.errors import UsageError
from paritygate.outcomes.plans import Selection
from paritygate.outcomes.trees import Entry, Tree
from paritygate.outcomes.words import Worktree
from paritygate.selection import Asked


def a_tree(*paths: str, state: Worktree = Worktree.CLEAN, directory: str = "", links: dict[str, str] | None = None) -> Tree:
    """Make a tree of files, the directories above them, and links."""
    folders = {path.rsplit("/", depth)[0] for path in paths for depth in range(1, path.count("/") + 1)}
    entries = [Entry(path=path, kind="directory", mode=0o755) for path in folders]
    entries += [Entry(path=path, kind="file", mode=0o644) for path in paths]
    entries += [Entry(path=path, kind="link", mode=0o777, target=target) for path, target in (links or {}).items()]
    return Tree(
        state=state,
        root="/home/me/code",
        directory=directory,
        commit="",
        digest="",
        entries=tuple(sorted(entries, key=lambda entry: entry.path)),
    )


TREE = a_tree("tests/test_a.py", "tests/unit/test_b.py", "src/x.py")
INNER = a_tree("app/tests/test_a.py", "shared/test_s.py", directory="app")


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ([], Asked()),
        (["tests", "a.py::t"], Asked(paths=("tests", "a.py::t"))),
        (["-k", "a and b", "tests"], Asked(paths=("tests",), keyword="a and b")),
        (["-kledger", "-m=slow"], Asked(keyword="ledger", marker="slow")),
        (["-m", "not slow", "--runslow", "-p=x"], Asked(marker="not slow", arguments=("--runslow", "-p=x"))),
        (["tests", "--", "--ds", "settings", "-k"], Asked(paths=("tests",), arguments=("--ds", "settings", "-k"))),
    ],
)
def test_words_are_read_as_pytest_would(words: list[str], asked: Asked) -> None:
    assert selection.parse(words) == asked


def test_an_option_without_its_value_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="`-k` needs a value"):
        selection.parse(["tests", "-k"])


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("tests", "tests"),
        ("tests/", "tests"),
        ("./tests/unit/../test_a.py", "tests/test_a.py"),
        ("/home/me/code/tests/unit", "tests/unit"),
        (".", "."),
        ("/home/me/code", "."),
        ("tests/test_a.py::TestX::test_y[a::b/../c.py]", "tests/test_a.py::TestX::test_y[a::b/../c.py]"),
    ],
)
def test_a_path_is_made_relative_to_the_project(given: str, path: str) -> None:
    assert selection.select(Asked(paths=(given,)), [TREE]).paths == (path,)


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("tests/test_a.py", "tests/test_a.py"),
        ("app/tests/test_a.py::test_x", "tests/test_a.py::test_x"),
        ("/home/me/code/app/tests", "tests"),
        ("../shared/test_s.py", "../shared/test_s.py"),
        ("shared", "../shared"),
        (".", "."),
    ],
)
def test_a_path_in_a_project_below_the_top_may_start_at_either(given: str, path: str) -> None:
    selected = selection.select(Asked(paths=(given,)), [INNER])

    assert selected.paths == (path,)
    assert selected.directory == "app"


def test_what_is_no_path_is_handed_on() -> None:
    asked = Asked(keyword="a", marker="b", arguments=("--runslow",))

    assert selection.select(asked, [TREE]) == Selection(keyword="a", marker="b", arguments=("--runslow",))


def test_a_path_given_twice_is_asked_for_once() -> None:
    assert selection.select(Asked(paths=("tests", "./tests")), [TREE]).paths == ("tests",)


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("tests/Test_A.py", "did you mean `tests/test_a.py`?"),
        ("test_b.py", "did you mean `tests/unit/test_b.py`?"),
        ("tests/test_aa.py", "did you mean `tests/test_a.py`?"),
        (
            "nothing/like/it",
            "give a path from the project or from the top of its repository; caches and environments are never sent",
        ),
    ],
)
def test_a_path_in_no_tree_is_a_usage_error_with_near_misses(given: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        selection.select(Asked(paths=(f"{given}::test_x",)), [TREE])

    assert caught.value.message == f"`{given}::test_x` is in no tree of `/home/me/code`"
    assert caught.value.hint == hint


@pytest.mark.parametrize("given", ["/etc/passwd", "../other/test_x.py", "../../test_y.py"])
def test_a_path_outside_the_tree_is_a_usage_error(given: str) -> None:
    with pytest.raises(UsageError, match="lies outside the tree `/home/me/code`"):
        selection.select(Asked(paths=(given,)), [TREE])


def test_a_path_below_a_link_is_followed_through_the_tree() -> None:
    linked = a_tree("shared/tests/test_s.py", links={"app/tests": "../shared/tests", "loop": "loop", "out": "/etc"})

    assert selection.select(Asked(paths=("app/tests/test_s.py",)), [linked]).paths == ("app/tests/test_s.py",)
    for lost in ("app/tests/test_no.py", "loop/test_s.py", "out/passwd"):
        with pytest.raises(UsageError):
            selection.select(Asked(paths=(lost,)), [linked])


def test_a_path_in_one_tree_alone_is_allowed_and_missing_in_the_other() -> None:
    dirty = a_tree("test_a.py", "test_new.py", state=Worktree.DIRTY)
    clean = a_tree("test_a.py")
    selected = selection.select(Asked(paths=("test_a.py", "test_new.py::test_x"), keyword="k"), [dirty, clean])

    assert selection.for_tree(selected, dirty) == (selected, ())
    assert selection.for_tree(selected, clean) == (Selection(paths=("test_a.py",), keyword="k"), ("test_new.py::test_x",))


def test_nothing_is_left_where_no_path_is_in_a_tree() -> None:
    assert selection.for_tree(Selection(paths=("test_new.py",)), a_tree("test_a.py")) == (None, ("test_new.py",))


def test_without_paths_pytests_own_default_stands() -> None:
    assert selection.for_tree(Selection(keyword="k"), a_tree("test_a.py")) == (Selection(keyword="k"), ())


def test_nothing_is_left_where_the_project_itself_is_not_in_a_tree() -> None:
    clean = a_tree("test_a.py", directory="untracked")

    assert selection.for_tree(Selection(directory="untracked"), clean) == (None, ())


def test_module_names_are_pytests_affair() -> None:
    asked = Asked(paths=("package.tests",), arguments=("--pyargs",))
    selected = selection.select(asked, [TREE])

    assert selected.paths == ("package.tests",)
    assert selection.for_tree(selected, TREE) == (selected, ())

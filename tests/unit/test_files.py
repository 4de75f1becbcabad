"""Files behind a coupling: what differs between the states of a tree, and which of it a test has touched."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from paritygate.causes.differences import differences, to_watch
from paritygate.causes.files import with_files, with_rules
from paritygate.outcomes.artifact import Cause, FileFact, Finding
from paritygate.outcomes.cells import Spelling, Touch
from paritygate.outcomes.products import Product, product_of
from paritygate.outcomes.trees import Difference, Entry, NameMismatch, Tree
from paritygate.outcomes.words import Axis, CauseKind, FileState, Touching, Worktree
from paritygate.reports.files import files
from paritygate.reports.findings import Page, findings
from paritygate.snapshot.ignoring import rules_of
from tests.support.builders import a_cell, a_failure, a_finding, a_run, an_artifact
from tests.support.samples import clean_environment, git

OPENED, LISTED, WRITTEN = Touching.OPENED, Touching.LISTED, Touching.WRITTEN


def a_tree(state: Worktree, files: str, status: dict[str, str] | None = None, renamed: dict[str, str] | None = None) -> Tree:
    """Make a tree of words: `a/` a folder, `a` a file that is everywhere the same, `a=x` one with the content `x`."""
    entries = []
    for word in files.split():
        path, _, content = word.partition("=")
        kind = "directory" if path.endswith("/") else "file"
        entries.append(Entry(path=path.rstrip("/"), kind=kind, mode=0o644, sha256=content))
    mismatches = tuple(NameMismatch(tracked=old, on_disk=new, why="case") for old, new in (renamed or {}).items())
    return Tree(
        state=state,
        root="/tree",
        directory="",
        commit="c0ffee",
        digest=state.value,
        entries=tuple(entries),
        status=status or {},
        mismatches=mismatches,
    )


def compared(dirty: str, clean: str, status: dict[str, str] | None = None) -> dict[str, Difference]:
    trees = {Worktree.DIRTY: a_tree(Worktree.DIRTY, dirty, status), Worktree.CLEAN: a_tree(Worktree.CLEAN, clean)}
    return differences(trees)


class TestDifferences:
    def test_what_is_the_same_is_none(self) -> None:
        assert compared("data/ data/a", "data/ data/a") == {}

    def test_a_single_state_has_none(self) -> None:
        assert differences({Worktree.DIRTY: a_tree(Worktree.DIRTY, "a")}) == {}

    def test_each_is_what_git_says(self) -> None:
        found = compared("a b c=crlf", "c=lf d", {"a": "ignored", "b": "untracked", "c": "modified"})
        assert {path: each.state for path, each in found.items()} == {
            "a": FileState.IGNORED,
            "b": FileState.UNTRACKED,
            "c": FileState.CHANGED,
            "d": FileState.NOT_ON_DISK,
        }
        assert all(each.name == path for path, each in found.items())

    def test_both_names_of_a_renamed_file_are_one_and_so_are_those_of_its_folder(self) -> None:
        names = {"Data/a": "data/a"}
        dirty = a_tree(Worktree.DIRTY, "data/ data/a", {"data/a": "renamed"}, names)
        clean = a_tree(Worktree.CLEAN, "Data/ Data/a", {"Data/a": "renamed"}, names)
        found = differences({Worktree.DIRTY: dirty, Worktree.CLEAN: clean})
        file, folder = (Difference(f"data/{name}", FileState.RENAMED, f"Data{'/a' * bool(name)}") for name in ("a", ""))
        assert found == {"data/a": file, "Data/a": file, "data": folder, "Data": folder}

    def test_a_folder_that_one_state_lacks_is_as_what_lies_in_it_and_watched_as_a_whole(self) -> None:
        found = compared("a/ a/b/ a/b/c a/d e/ f", "e/", {"a/b/c": "ignored", "a/d": "ignored", "f": "untracked"})
        assert {path: each.state for path, each in found.items() if each.is_folder} == {
            "a": FileState.IGNORED,
            "a/b": FileState.IGNORED,
        }
        assert to_watch(found) == ("a/", "f")

    def test_an_empty_folder_is_one_that_git_never_has(self) -> None:
        assert compared("out/", "") == {"out": Difference("out/", FileState.UNTRACKED)}

    def test_names_that_are_not_text_are_left_out(self) -> None:
        assert compared("a\udcff", "") == {}


DIFFERENT = compared("data/ data/a data/b data/c log", "data/", {"data/a": "ignored", "data/b": "untracked", "log": "ignored"})


def a_coupling(*axes: Axis) -> Finding:
    return a_finding("t", "coupling", cause=Cause(kind=CauseKind.AXIS, axes=axes, ways=(axes,)))


def facts(
    *touches: Touch, axes: tuple[Axis, ...] = (Axis.WORKTREE,), spellings: tuple[Spelling, ...] = ()
) -> dict[str, FileFact]:
    finding = with_files(a_coupling(*axes), [a_run("t", touched=touches, spellings=spellings)], DIFFERENT)
    assert finding.cause is not None
    assert finding.cause.files == tuple(finding.cause.file_facts)
    return finding.cause.file_facts


class TestNaming:
    def test_what_was_touched_and_differs_is_named(self) -> None:
        assert facts(Touch("data/a", OPENED), Touch("elsewhere", OPENED)) == {
            "data/a": FileFact(state=FileState.IGNORED, touched=(OPENED,))
        }

    def test_what_differs_and_was_not_touched_is_not(self) -> None:
        assert facts() == {}

    def test_of_a_folder_that_is_listed_what_differs_in_it_is_named(self) -> None:
        assert list(facts(Touch("data", LISTED))) == ["data/a", "data/b", "data/c"]

    def test_what_is_only_listed_or_written_stays_behind_what_is_opened(self) -> None:
        assert list(facts(Touch("log", WRITTEN), Touch("data", LISTED), Touch("data/b", OPENED))) == ["data/b"]
        assert list(facts(Touch("log", WRITTEN))) == ["log"]

    def test_what_the_test_says_that_it_misses_comes_first_then_what_is_written_then_what_is_built(self) -> None:
        different = compared("d/ d/a.mo d/b d/c d/z", "d/", dict.fromkeys(("d/a.mo", "d/b", "d/c", "d/z"), "ignored"))
        missing = msgspec.structs.replace(a_failure(), message="[Errno 2] No such file or directory: '/parity/workspace/d/c'")
        touched = tuple(Touch(f"d/{name}", OPENED) for name in ("z", "a.mo", "b", "c"))
        runs = [a_run("t", touched=touched), a_run("t", "failed", failure=missing)]
        for some in (runs, runs[::-1], [a_run("t", touched=touched[::-1]), runs[1]]):
            cause = with_files(a_coupling(Axis.WORKTREE), some, different).cause
            assert cause is not None
            assert cause.files == ("d/c", "d/b", "d/z", "d/a.mo")

    @pytest.mark.parametrize(
        "made", ["tabulate.egg-info/PKG-INFO", "src/humanize/_version.py", "src/a/__pycache__/b.cpython-311.pyc"]
    )
    @pytest.mark.parametrize(
        ("own", "how"), [("tests/local.json", OPENED), ("locale/a.mo", Touching.LOOKED_FOR), ("log", WRITTEN)]
    )
    def test_what_installing_the_project_makes_is_no_cause_where_there_is_another(
        self, made: str, own: str, how: Touching
    ) -> None:
        different = {path: Difference(path, FileState.IGNORED) for path in (made, own)}
        run = a_run("t", touched=(Touch(made, OPENED), Touch(own, how)))
        cause = with_files(a_coupling(Axis.WORKTREE), [run], different).cause
        assert cause is not None
        assert cause.files == (own,)
        cause = with_files(a_coupling(Axis.WORKTREE), [run], {made: different[made]}).cause
        assert cause is not None
        assert cause.files == (made,)

    def test_no_file_is_named_where_the_tree_is_not_the_cause(self) -> None:
        assert facts(Touch("data/a", OPENED), axes=(Axis.TIMEZONE,)) == {}

    def test_where_case_is_the_cause_the_names_are_that_were_found_by_another_spelling(self) -> None:
        spelled = (Spelling("data/A", "data/a"),)
        assert facts(axes=(Axis.CASE_SENSITIVE,), spellings=spelled) == {
            "data/a": FileFact(state=FileState.SPELLED, other="data/A")
        }

    def test_a_file_of_one_state_that_was_found_by_another_spelling_is_touched_too(self) -> None:
        assert list(facts(spellings=(Spelling("data/A", "data/a"),))) == ["data/a"]

    def test_what_git_and_the_disk_name_differently_is_not_named_again_by_gits_name(self) -> None:
        renamed = Difference("data/a", FileState.RENAMED, "data/A")
        run = a_run("t", touched=(Touch("data/a", OPENED),), spellings=(Spelling("data/a", "data/A"),))
        coupling = a_coupling(Axis.CASE_SENSITIVE, Axis.WORKTREE)
        finding = with_files(coupling, [run], {"data/a": renamed, "data/A": renamed})
        assert finding.cause is not None
        assert finding.cause.file_facts == {"data/a": FileFact(state=FileState.RENAMED, other="data/A", touched=(OPENED,))}

    def test_rules_are_looked_up_once_and_only_for_what_git_ignores(self) -> None:
        asked = []

        def rules(paths: object) -> dict[str, str]:
            asked.append(paths)
            return {"data/a": ".gitignore:3"}

        runs = [a_run("t", touched=(Touch("data/a", OPENED), Touch("data/b", OPENED)))]
        findings = [with_files(a_coupling(Axis.WORKTREE), runs, DIFFERENT)] * 2
        ruled, _ = with_rules([*findings, a_finding("u")], rules)[:2]
        assert ruled.cause is not None
        assert {path: fact.rule for path, fact in ruled.cause.file_facts.items()} == {"data/a": ".gitignore:3", "data/b": ""}
        assert asked == [("data/a",)]


class TestRules:
    def test_git_says_where_the_rule_is(self, tmp_path: Path) -> None:
        (tmp_path / "data").mkdir()
        (tmp_path / ".gitignore").write_text("# ours\n\n/data/*.json\n", encoding="utf-8")
        (tmp_path / "data" / ".gitignore").write_text("cache/\n", encoding="utf-8")
        git(tmp_path, "init", "--quiet")
        assert rules_of(str(tmp_path), clean_environment(), ["data/a.json", "data/cache/", "data/b.txt"]) == {
            "data/a.json": ".gitignore:3",
            "data/cache/": "data/.gitignore:1",
        }

    def test_without_a_repository_there_is_none(self, tmp_path: Path) -> None:
        assert rules_of(str(tmp_path), {**clean_environment(), "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}, ["a"]) == {}


@pytest.mark.parametrize(
    ("fact", "what", "to_do"),
    [
        (
            FileFact(state=FileState.IGNORED, rule=".gitignore:3", touched=(OPENED,)),
            "`a`, ignored by git (.gitignore:3), is not in a fresh clone (opened)",
            "commit it (`git add --force`), or let the test make it",
        ),
        (
            FileFact(state=FileState.UNTRACKED, touched=(LISTED,)),
            "`a`, never added to git, is not in a fresh clone (its folder is listed)",
            "commit it, or let the test make it",
        ),
        (
            FileFact(state=FileState.RENAMED, other="A", touched=(OPENED, Touching.LOOKED_FOR)),
            "`a` is `A` in git, and so in a fresh clone (opened, looked for)",
            "call it the same in git and on disk (`git mv`)",
        ),
        (FileFact(state=FileState.SPELLED, other="A"), "`a` is asked for as `A`", "ask for it by the name that it has"),
    ],
)
def test_a_report_says_what_a_file_is_and_what_to_do(fact: FileFact, what: str, to_do: str) -> None:
    cause = Cause(kind=CauseKind.AXIS, axes=(Axis.WORKTREE,), files=("a",), file_facts={"a": fact})
    assert list(files(cause)) == [f"file: {what}: {to_do}"]


def test_a_name_that_a_cause_tells_is_not_told_twice() -> None:
    run = a_run("t", "passed", spellings=(Spelling("A", "a"),))
    cause = Cause(kind=CauseKind.AXIS, axes=(Axis.CASE_SENSITIVE,))
    named = msgspec.structs.replace(cause, files=("a",), file_facts={"a": FileFact(state=FileState.SPELLED, other="A")})
    lines = []
    for each in (cause, named):
        artifact = an_artifact(tests=(a_finding("t", "coupling", cause=each),), cells=(a_cell("a", runs=[run]),))
        lines.append([str(line).strip() for line in findings(artifact, Page(width=200))][-2:])
    assert lines[0] == ["a: `A` is `a`", "cause: case_sensitive"]
    assert lines[1] == ["cause: case_sensitive", "file: `a` is asked for as `A`: ask for it by the name that it has"]


def test_a_report_does_not_list_files_without_end() -> None:
    fact = FileFact(state=FileState.UNTRACKED)
    cause = Cause(kind=CauseKind.AXIS, files=tuple("abcdefg"), file_facts=dict.fromkeys("abcdefg", fact))
    assert list(files(cause))[5:] == ["and 2 more files in the report"]


MADE = "it is made, not written: make it in the job, or in a fixture"


@pytest.mark.parametrize(
    ("path", "state", "product"),
    [
        ("tabulate.egg-info/PKG-INFO", FileState.IGNORED, Product.INSTALLED),
        ("src/shop.egg-info/", FileState.UNTRACKED, Product.INSTALLED),
        ("lib/shop-1.0.dist-info/METADATA", FileState.IGNORED, Product.INSTALLED),
        ("src/humanize/_version.py", FileState.IGNORED, Product.INSTALLED),
        ("src/shop/__pycache__/a.cpython-311.pyc", FileState.IGNORED, Product.INSTALLED),
        ("src/humanize/locale/fr_FR/LC_MESSAGES/humanize.mo", FileState.IGNORED, Product.BUILT),
        ("src/shop/_speed.cpython-311-x86_64-linux-gnu.so", FileState.UNTRACKED, Product.BUILT),
        ("build/lib/a.txt", FileState.IGNORED, Product.BUILT),
        ("packages/shop/dist/", FileState.IGNORED, Product.BUILT),
        ("tests/data/build/rates.json", FileState.IGNORED, None),
        ("tests/build", FileState.IGNORED, None),
        ("test/data/local.json", FileState.UNTRACKED, None),
        ("src/shop/_version.py", FileState.CHANGED, None),
        ("src/shop/version.py", FileState.UNTRACKED, None),
        ("locale/a.mo", FileState.NOT_ON_DISK, None),
    ],
)
def test_what_is_made_is_to_be_made_and_never_to_be_committed(path: str, state: FileState, product: Product | None) -> None:
    assert product_of(path, state) is product
    (line,) = files(Cause(kind=CauseKind.AXIS, files=(path,), file_facts={path: FileFact(state=state)}))
    assert line.endswith(MADE) is (product is not None)
    assert ("commit it" in line) is (product is None and state in {FileState.IGNORED, FileState.UNTRACKED})


def test_the_files_behind_one_cause_of_several_tests_are_told_once() -> None:
    def cause(**touched: tuple[Touching, ...]) -> Cause:
        some = {f"{path}.mo": FileFact(state=FileState.IGNORED, touched=how) for path, how in touched.items()}
        return Cause(kind=CauseKind.AXIS, files=tuple(some), file_facts=some)

    looked, both = (Touching.LOOKED_FOR,), (Touching.LOOKED_FOR, OPENED)
    assert list(files(cause(a=looked), cause(b=both, a=both), cause(b=looked))) == [
        f"file: `{path}.mo`, ignored by git, is not in a fresh clone (looked for, opened): {MADE}" for path in "ab"
    ]
    assert list(files(*(cause(**{f"n{number}": looked}) for number in range(9))))[5:] == ["and 4 more files in the report"]

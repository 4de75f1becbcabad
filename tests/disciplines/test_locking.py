"""`paritygate lock` and what `run` refuses because of it, through the real command line and real repositories."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from paritygate.locks import mending
from paritygate.locks.comparing import State
from paritygate.outcomes.words import ExitCode
from tests.support.command_line import Said, call, commit
from tests.support.samples import git

LOCK = "tests/fixtures.lock.json"
NOWHERE = ("--host", "unix:///nowhere/at/all.sock")


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a repository with recordings of every kind."""
    project = tmp_path / "project"
    data = project / "tests" / "data"
    (data / "deep").mkdir(parents=True)
    (project / "tests" / "test_a.py").write_text("def test_a(): pass\n", encoding="utf-8")
    (data / "a.json").write_bytes(b'{"a":\n1}\n')
    (data / "deep" / "zürich \u2603.json").write_bytes(b"{}\n")
    (data / "image.bin").write_bytes(bytes(range(256)) * 9)
    return commit(project, new=True)


def written(project: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads((project / LOCK).read_text(encoding="utf-8"))
    return found


def locked(project: Path) -> Path:
    assert call(project, "lock", "--write", "tests/data").code == 0
    return commit(project)


def refused(project: Path, *lines: str) -> Said:
    """Make sure that both the check and a run refuse for exactly these reasons, the run before it asks for an engine."""
    said = call(project, "lock", "--check")
    assert said.code == ExitCode.REFUSED
    assert [line.strip() for line in said.err.splitlines()[1:-1]] == list(lines)
    run = call(project, "run", *NOWHERE)
    assert (run.code, run.err) == (ExitCode.REFUSED, said.err)
    assert not (project / "parity_report.json").exists()
    return said


def test_writing_says_what_moved_and_the_lock_is_a_sorted_map(project: Path) -> None:
    first = call(project, "lock", "--write", "tests/data")
    assert first.out.splitlines() == [
        "added    tests/data/a.json",
        "added    tests/data/deep/zürich \u2603.json",
        "added    tests/data/image.bin",
    ]
    assert written(project) == {
        "tests/data/a.json": sha256(b'{"a":\n1}\n'),
        "tests/data/deep/zürich \u2603.json": sha256(b"{}\n"),
        "tests/data/image.bin": sha256(bytes(range(256)) * 9),
    }
    assert list(written(project)) == sorted(written(project))
    commit(project)
    (project / "tests/data/a.json").write_bytes(b"2\n")
    (project / "tests/data/image.bin").unlink()
    (project / "tests/data/new.json").write_bytes(b"3\n")
    again = call(project, "lock", "--write")
    assert again.out.splitlines() == [
        "changed  tests/data/a.json",
        "removed  tests/data/image.bin",
        "added    tests/data/new.json",
    ]
    assert "warning: `tests/data/new.json` is not tracked by git" in again.err
    assert call(project, "lock", "--write").out == ""


def test_a_lock_that_holds_is_said_to_and_the_run_goes_on_to_the_engine(project: Path) -> None:
    locked(project)
    assert call(project, "lock", "--check").out == f"3 files are locked in `{LOCK}`, and all are what they were\n"
    assert call(project, "run", *NOWHERE).code == ExitCode.NO_VERDICT


def test_each_thing_that_is_wrong_is_named_as_what_it_is(project: Path) -> None:
    locked(project)
    (project / "tests/data/a.json").write_bytes(b'{"a":\r\n1}\r\n')
    (project / "tests/data/deep/zürich \u2603.json").unlink()
    (project / "tests/data/image.bin").write_bytes(b"\0\r\n")
    (project / "tests/data/deep/new.json").write_bytes(b"3\n")
    refused(
        project,
        "equal but for line endings: `tests/data/a.json`",
        "not locked: `tests/data/deep/new.json`",
        "missing: `tests/data/deep/zürich \u2603.json`",
        "changed: `tests/data/image.bin`",
    )


def hint_of(said: Said) -> str:
    return said.err.splitlines()[-1].removeprefix("hint: ")


def test_every_fault_has_a_hint_and_what_has_another_content_is_mended_by_it(project: Path) -> None:
    assert set(mending.WAYS) == set(State)
    locked(project)
    a_file = project / "tests/data/a.json"
    a_file.write_bytes(b"2\n")
    said = hint_of(refused(project, "changed: `tests/data/a.json`"))
    assert said == "look at what moved; where it is meant, `paritygate lock --write` takes it in, and the diff shows it"
    git(project, "checkout", "--quiet", "--", "tests/data/a.json")

    a_file.write_bytes(b'{"a":\r\n1}\r\n')
    said = hint_of(refused(project, "equal but for line endings: `tests/data/a.json`"))
    assert said == "give the file back its line endings, or have git convert them by a `.gitattributes` that is tracked"
    (project / ".gitattributes").write_text("*.json text eol=crlf\n", encoding="utf-8")
    git(project, "add", ".gitattributes", "tests/data/a.json")
    assert call(project, "lock", "--check").code == 0


def test_what_is_gone_or_that_no_clone_has_is_mended_as_its_hint_says(project: Path) -> None:
    (project / ".gitignore").write_text("*.cache\n", encoding="utf-8")
    locked(project)
    (project / "tests/data/image.bin").unlink()
    said = hint_of(refused(project, "missing: `tests/data/image.bin`"))
    assert said == "restore the file; where it is meant to be gone, `paritygate lock --write` takes it out of the lock"
    assert call(project, "lock", "--write").out == "removed  tests/data/image.bin\n"

    (project / "tests/data/later.json").write_bytes(b"1\n")
    said = hint_of(refused(project, "not locked: `tests/data/later.json`"))
    assert said.startswith("`paritygate lock --write` takes it in; ")
    assert call(project, "lock", "--write").code == 0

    said = hint_of(refused(project, "not tracked by git: `tests/data/later.json` (a fresh clone lacks it)"))
    assert said == "`git add` the file"
    git(project, "add", "tests/data/later.json")

    (project / "tests/data/made.cache").write_bytes(b"1\n")
    assert call(project, "lock", "--write", "tests/data/made.cache").code == 0
    said = hint_of(refused(project, "ignored by git: `tests/data/made.cache` (a fresh clone lacks it)"))
    assert said == "`git add --force` the file, or let it lie where git does not ignore it"
    git(project, "add", "--force", "tests/data/made.cache")
    assert call(project, "lock", "--check").code == 0


def test_several_kinds_of_faults_have_a_hint_each(project: Path) -> None:
    locked(project)
    (project / "tests/data/a.json").unlink()
    (project / "tests/data/image.bin").write_bytes(b"2\n")
    said = hint_of(refused(project, "missing: `tests/data/a.json`", "changed: `tests/data/image.bin`"))
    assert said.startswith("missing: restore the file; ")
    assert "; changed: look at what moved; " in said


def test_a_locked_file_that_no_clone_has_is_named(project: Path) -> None:
    (project / ".gitignore").write_text("*.cache\n", encoding="utf-8")
    (project / "tests/data/made.cache").write_bytes(b"1\n")
    (project / "tests/data/later.json").write_bytes(b"1\n")
    said = call(project, "lock", "--write", "tests/data")
    assert "warning: `tests/data/made.cache` is ignored by git" in said.err
    refused(
        project,
        "not tracked by git: `tests/data/later.json` (a fresh clone lacks it)",
        "ignored by git: `tests/data/made.cache` (a fresh clone lacks it)",
    )


def test_a_checkout_in_which_git_converts_line_endings_holds(project: Path, tmp_path: Path) -> None:
    locked(project)
    other = tmp_path / "other"
    git(project, "-c", "core.autocrlf=true", "clone", "--quiet", str(project), str(other), "--config", "core.autocrlf=true")
    assert (other / "tests/data/a.json").read_bytes() == b'{"a":\r\n1}\r\n'
    checked = call(other, "lock", "--check")
    assert checked.code == 0, checked.err
    assert "`tests/data/a.json` has other line endings here than in git, which converts them" in checked.err
    assert call(other, "lock", "--write").out == ""
    assert call(other, "run", *NOWHERE).code == ExitCode.NO_VERDICT


def test_a_link_to_a_file_whose_line_ends_git_converts_is_locked_as_git_has_it(project: Path) -> None:
    data = project / "tests/data"
    (data / "a.txt").write_bytes(b"one\ntwo\n")
    (data / "link.txt").symlink_to("a.txt")
    locked(project)
    before = written(project)
    (project / ".gitattributes").write_text("*.txt text eol=crlf\n", encoding="utf-8")
    commit(project)
    (data / "a.txt").unlink()
    git(project, "checkout", "tests/data/a.txt")
    assert (data / "link.txt").read_bytes() == b"one\r\ntwo\r\n"
    said = call(project, "lock", "--check")
    assert said.code == 0, said.err
    assert "`tests/data/link.txt` has other line endings here than in git" in said.err
    assert call(project, "lock", "--write").code == 0
    assert written(project) == before
    assert before["tests/data/link.txt"] == before["tests/data/a.txt"] == sha256(b"one\ntwo\n")


def test_all_that_cannot_be_locked_is_listed_at_once_and_nothing_is_written(project: Path, tmp_path: Path) -> None:
    (project / "tests/data/folder").symlink_to("deep")
    (project / "tests/data/out.json").symlink_to(tmp_path / "elsewhere.json")
    (tmp_path / "elsewhere.json").write_bytes(b"{}")
    said = call(project, "lock", "--write", "tests/data")
    assert said.code == ExitCode.REFUSED
    assert [line.strip() for line in said.err.splitlines()[1:3]] == [
        "`tests/data/folder`: it is a link to a folder",
        "`tests/data/out.json`: it is a link that leads out of the tree",
    ]
    assert "name the files to be locked one by one or by a glob" in said.err
    assert not (project / LOCK).exists()


@pytest.mark.parametrize("where", ["out of the tree", "inside"])
def test_what_lies_behind_a_linked_folder_is_not_there_for_git(project: Path, tmp_path: Path, where: str) -> None:
    locked(project)
    deep = project / "tests/data/deep"
    other = tmp_path / "elsewhere" if where == "out of the tree" else project / "other"
    deep.rename(other)
    deep.symlink_to(other)
    line = (
        "unreadable: `tests/data/deep/zürich \u2603.json` (it lies behind the link `tests/data/deep`, where git tracks nothing)"
    )
    refused(project, line)
    commit(project)
    refused(project, line)


def test_links_stand_for_the_files_that_they_lead_to(project: Path, tmp_path: Path) -> None:
    (project / "tests/data/link.json").symlink_to("a.json")
    locked(project)
    assert written(project)["tests/data/link.json"] == written(project)["tests/data/a.json"]
    (tmp_path / "outside").write_bytes(b'{"a":\n1}\n')
    (project / "tests/data/link.json").unlink()
    (project / "tests/data/link.json").symlink_to(tmp_path / "outside")
    commit(project)
    refused(project, "unreadable: `tests/data/link.json` (it is a link that leads out of the tree)")
    said = call(project, "lock", "--write")
    assert (said.code, "it is a link that leads out of the tree" in said.err) == (ExitCode.REFUSED, True)
    (project / "tests/data/link.json").unlink()
    (project / "tests/data/link.json").symlink_to("nothing")
    commit(project)
    refused(project, "missing: `tests/data/link.json`")


def test_what_is_no_file_any_more_is_named_and_not_waited_for(project: Path) -> None:
    locked(project)
    (project / "tests/data/a.json").unlink()
    os.mkfifo(project / "tests/data/a.json")
    (project / "tests/data/image.bin").unlink()
    (project / "tests/data/image.bin").mkdir()
    refused(
        project,
        "unreadable: `tests/data/a.json` (no longer a file)",
        "unreadable: `tests/data/image.bin` (it is a folder)",
    )


def test_a_huge_file_is_hashed_in_pieces(project: Path) -> None:
    with (project / "tests/data/huge.bin").open("wb") as file:
        file.truncate(70 << 20)
    assert call(project, "lock", "--write", "tests/data/huge.bin").code == 0
    digest = hashlib.sha256()
    for _ in range(70):
        digest.update(bytes(1 << 20))
    assert written(project) == {"tests/data/huge.bin": digest.hexdigest()}


def test_a_lock_is_not_written_under_ci_unless_told(project: Path) -> None:
    ended = call(project, "lock", "--write", "tests/data", variables={"CI": "true"})
    assert (ended.code, (project / LOCK).exists()) == (ExitCode.REFUSED, False)
    assert "`--in-ci` writes it all the same" in ended.err
    assert call(project, "lock", "--write", "--in-ci", "tests/data", variables={"CI": "true"}).code == 0
    assert call(project, "lock", "--write", variables={"CI": "false"}).code == 0


def test_the_settings_say_what_must_be_locked_and_then_a_lock_must_be_there(project: Path) -> None:
    (project / "paritygate.toml").write_text('locked = ["tests/data/**/*.json"]\n', encoding="utf-8")
    ended = call(project, "run", *NOWHERE)
    assert (ended.code, f"there is no lock `{LOCK}`" in ended.err) == (ExitCode.REFUSED, True)
    assert call(project, "lock", "--write").code == 0
    commit(project)
    assert list(written(project)) == ["tests/data/a.json", "tests/data/deep/zürich \u2603.json"]
    (project / "tests/data/beside.txt").write_bytes(b"not meant\n")
    assert call(project, "lock", "--check").code == 0
    (project / "tests/data/more.json").write_bytes(b"meant\n")
    refused(project, "not locked: `tests/data/more.json`")


def test_paths_are_from_where_one_stands_and_leave_the_rest_of_the_lock_alone(project: Path) -> None:
    locked(project)
    (project / "tests/data/a.json").write_bytes(b"2\n")
    (project / "tests/data/image.bin").write_bytes(b"2\n")
    said = call(project / "tests", "lock", "--write", "--project", "..", "data/*.json")
    assert said.out.splitlines() == ["changed  tests/data/a.json"]
    assert "`../..` lies outside the project" in call(project / "tests", "lock", "--write", "--project", "..", "../..").err


def test_nothing_beside_sources_is_asked_for_and_our_own_files_never(project: Path) -> None:
    (project / "tests/one.json").write_bytes(b"1\n")
    (project / "tests/two.json").write_bytes(b"2\n")
    (project / "tests/flake_freeze.json").write_bytes(b"{}\n")
    assert call(project, "lock", "--write", "tests/one.json").code == 0
    commit(project)
    assert call(project, "lock", "--check").code == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), ExitCode.USAGE, "takes either `--write` or `--check`"),
        (("--write", "--check"), ExitCode.USAGE, "takes either `--write` or `--check`"),
        (("--check", "tests"), ExitCode.USAGE, "takes no paths"),
        (("--write", "tests/nothing"), ExitCode.USAGE, "`tests/nothing` is no file, folder or glob that finds one"),
        (("--write",), ExitCode.USAGE, "nothing is locked so far"),
        (("--check",), ExitCode.REFUSED, f"there is no lock `{LOCK}`"),
    ],
)
def test_what_cannot_be_meant_is_said(project: Path, words: tuple[str, ...], code: ExitCode, said: str) -> None:
    ended = call(project, "lock", *words)
    assert (ended.code, said in ended.err) == (code, True), ended.err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", "expected an object"),
        ('{"../a": "' + "0" * 64 + '"}', "`../a` is no path below the project"),
        ('{"/a": "' + "0" * 64 + '"}', "`/a` is no path below the project"),
        ('{"a/./b": "' + "0" * 64 + '"}', "`a/./b` is no path below the project"),
        ('{"a": "' + "G" * 64 + '"}', "`a` has no sha256"),
        ('{"a": 3}', "`a` has no sha256"),
    ],
)
def test_a_lock_that_cannot_be_read_refuses_and_is_not_written_over(project: Path, content: str, said: str) -> None:
    (project / LOCK).write_text(content, encoding="utf-8")
    for words in (("lock", "--check"), ("lock", "--write", "tests/data"), ("run", *NOWHERE)):
        ended = call(project, *words)
        assert (ended.code, said in ended.err) == (ExitCode.REFUSED, True), ended.err
    assert (project / LOCK).read_text(encoding="utf-8") == content


def test_a_folder_without_git_has_its_lock_checked_too(tmp_path: Path) -> None:
    (tmp_path / "tests" / "data").mkdir(parents=True)
    (tmp_path / "tests" / "data" / "a.json").write_bytes(b"1\n")
    assert call(tmp_path, "lock", "--write", "tests/data").code == 0
    assert call(tmp_path, "lock", "--check").code == 0
    (tmp_path / "tests" / "data" / "a.json").write_bytes(b"2\n")
    assert "changed: `tests/data/a.json`" in call(tmp_path, "lock", "--check").err

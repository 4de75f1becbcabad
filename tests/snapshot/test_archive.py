"""What arrives in a cell: the packed tree, unpacked again."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from paritygate.errors import SnapshotError
from paritygate.outcomes.trees import Tree
from paritygate.snapshot.archive import pack
from tests.snapshot.conftest import Project, files


def packed(project: Project, tree: Tree) -> bytes:
    return b"".join(pack(tree, project.environ))


def members(project: Project, tree: Tree) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(packed(project, tree)), errors="surrogateescape") as archive:
        return {member.name: member for member in archive.getmembers() if not member.name.startswith("parity/workspace/.git")}


def unpacked(project: Project, tree: Tree, target: Path) -> Path:
    with tarfile.open(fileobj=io.BytesIO(packed(project, tree)), errors="surrogateescape") as archive:
        archive.extractall(target, filter="fully_trusted")  # noqa: S202 - of our own making
    return target / "parity/workspace"


def test_a_packed_tree_is_the_tree(project: Project, tmp_path: Path) -> None:
    project.write("run.sh", "#!/bin/sh\n", mode=0o755)
    project.write("empty")
    project.write("large", os.urandom(700_000))
    project.write(f"{'long/' * 60}name.txt", "deep")
    project.write(b"not-\xff-utf8", "odd")
    (project.path / "link").symlink_to("/etc/" + "x" * 150)
    (project.path / "folder").mkdir()

    dirty, _ = project.trees()
    top = unpacked(project, dirty, tmp_path / "out")

    for entry in dirty.entries:
        there = top / entry.path
        if entry.kind == "file":
            assert there.read_bytes() == (project.path / entry.path).read_bytes()
            assert there.stat().st_mode & 0o777 == entry.mode
        elif entry.kind == "link":
            assert os.readlink(there) == entry.target  # noqa: PTH115
        else:
            assert there.is_dir()
    assert os.fsencode(top / b"not-\xff-utf8".decode("utf-8", "surrogateescape")) in [os.fsencode(path) for path in top.iterdir()]


def test_owner_and_time_are_the_same_for_everything(project: Project) -> None:
    project.write("b.py", mode=0o600)

    found = members(project, project.trees()[0])

    assert sorted(found) == ["parity/workspace", "parity/workspace/b.py", "parity/workspace/test_a.py"]
    assert {(member.uid, member.gid, member.uname, member.gname) for member in found.values()} == {(1000, 1000, "", "")}
    assert {member.mtime for member in found.values()} == {1577836800}


def test_content_from_git_and_with_other_line_endings_is_sent(project: Project, tmp_path: Path) -> None:
    project.write("data.txt", "a\nb\n")
    project.commit()
    project.git("config", "core.autocrlf", "true")
    (project.path / "data.txt").unlink()
    project.git("checkout", "--quiet", "--", ".")
    project.write("test_a.py", "changed\r\n")

    top = unpacked(project, project.trees()[1], tmp_path / "out")

    assert (project.path / "data.txt").read_bytes() == b"a\r\nb\r\n"
    assert (top / "data.txt").read_bytes() == b"a\nb\n"
    assert (top / "test_a.py").read_bytes() == b"changed\n"


def test_what_was_appended_since_is_not_sent(project: Project, tmp_path: Path) -> None:
    log = project.write("run.log", "one\n")
    dirty, _ = project.trees()
    log.write_text("one\ntwo\n")

    assert (unpacked(project, dirty, tmp_path / "out") / "run.log").read_text() == "one\n"


@pytest.mark.parametrize("content", ["0ne\n", "on", None])
def test_what_was_changed_since_ends_the_packing(project: Project, content: str | None) -> None:
    log = project.write("run.log", "one\n")
    dirty, _ = project.trees()
    log.unlink()
    if content is not None:
        log.write_text(content)

    with pytest.raises(SnapshotError, match=r"`run\.log` changed while the tree was being sent"):
        packed(project, dirty)


def git(top: Path, *arguments: str) -> str:
    environ = {"PATH": os.environ["PATH"], "HOME": str(top.parent), "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_COUNT": "1"}
    environ |= {"GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    done = subprocess.run(["git", *arguments], cwd=top, env=environ, check=True, capture_output=True, text=True)
    return done.stdout.rstrip()


def test_a_cell_has_a_repository_of_one_commit_that_shows_the_patch(project: Project, tmp_path: Path) -> None:
    project.write("package/b.py", "x\n")
    project.commit()
    project.git("tag", "v1.0")
    project.git("remote", "add", "origin", "https://user:password@example.org/x.git")
    project.write("package/b.py", "y\n")
    project.write("new.py")

    dirty, clean = project.trees()
    top = unpacked(project, dirty, tmp_path / "dirty")

    assert dirty.has_git
    assert git(top, "status", "--porcelain") == " M package/b.py\n?? new.py"
    assert git(top, "rev-list", "--count", "--all") == "1"
    assert git(top, "log", "--format=%an %cI %s") == "paritygate 2020-01-01T00:00:00+00:00 The tree under test"
    assert git(top, "tag") == "v1.0"
    assert git(top, "remote") == ""
    assert git(top, "reflog") == ""
    assert git(top, "rev-parse", "HEAD^{tree}") == project.git("rev-parse", "HEAD^{tree}")
    git(top, "fsck", "--strict")
    assert git(unpacked(project, clean, tmp_path / "clean"), "status", "--porcelain") == " M package/b.py"


def test_the_commit_made_for_a_cell_depends_on_the_tree_alone(project: Project, tmp_path: Path) -> None:
    first = unpacked(project, project.trees()[1], tmp_path / "first")
    digest = project.trees()[1].digest
    project.commit()

    assert project.trees()[1].digest == digest
    second = unpacked(project, project.trees()[1], tmp_path / "second")
    assert git(first, "rev-parse", "HEAD") == git(second, "rev-parse", "HEAD")


def test_a_worktree_has_a_repository_of_its_own_in_a_cell(project: Project, tmp_path: Path) -> None:
    project.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    linked = Project(tmp_path / "linked", tmp_path / "home")

    top = unpacked(linked, linked.trees()[1], tmp_path / "out")

    assert (top / ".git").is_dir()
    assert git(top, "status", "--porcelain") == ""


def test_a_submodule_is_not_a_change_in_a_cell(project: Project, tmp_path: Path) -> None:
    library = Project(tmp_path / "library", tmp_path / "home")
    library.path.mkdir()
    library.git("init", "--quiet")
    library.write("lib.py")
    library.commit()
    project.git("submodule", "--quiet", "add", str(library.path), "library")
    project.commit()

    _, clean = project.trees()
    top = unpacked(project, clean, tmp_path / "out")

    assert files(clean) == [".gitmodules", "library/lib.py", "test_a.py"]
    assert git(top, "status", "--porcelain") == ""


def test_a_repository_with_sha256_names_works_as_well(tmp_path: Path, project: Project) -> None:
    modern = Project(tmp_path / "modern", tmp_path / "home")
    modern.path.mkdir()
    modern.git("init", "--quiet", "--object-format=sha256")
    modern.write("a.py")
    modern.commit()

    top = unpacked(modern, modern.trees()[1], tmp_path / "out")

    assert git(top, "status", "--porcelain") == ""
    assert len(git(top, "rev-parse", "HEAD")) == 64

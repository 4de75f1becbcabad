"""Programs that know about case, or lean on the filesystem: git, Python's import, pytest's own habits, archives."""

from __future__ import annotations

import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.casefs.mounting import USER

pytestmark = pytest.mark.fuse

IDENTITY = ["-c", "user.name=N", "-c", "user.email=n@example.invalid", "-c", "init.defaultBranch=main"]


def git(*arguments: str, folder: str = "repository") -> str:
    environment = {**os.environ, "HOME": os.getcwd(), "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", *IDENTITY, "-C", folder, *arguments]
    # The real user as well: a shell that git starts would go back to it.
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, user=USER, group=USER)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def repository(folder: Path) -> Path:
    path = folder / "repository"
    path.mkdir()
    git("init", "--quiet")
    (path / "readme.md").write_text("hello\n", encoding="utf-8")
    (path / "src").mkdir()
    (path / "src" / "module.py").write_text("X = 1\n", encoding="utf-8")
    git("add", ".")
    git("commit", "--quiet", "-m", "first")
    return path


def test_git_notices_that_case_is_ignored(repository: Path) -> None:
    assert git("config", "core.ignorecase") == "true\n"
    assert (repository / "README.MD").exists()


def test_git_moves_a_file_and_a_folder_by_case(repository: Path) -> None:
    git("mv", "readme.md", "README.md")
    git("mv", "src/module.py", "src/Module.py")
    assert os.listdir(repository / "src") == ["Module.py"]
    assert git("status", "--porcelain") == "R  readme.md -> README.md\nR  src/module.py -> src/Module.py\n"
    git("commit", "--quiet", "-m", "second")
    assert git("ls-files") == "README.md\nsrc/Module.py\n"
    assert git("status", "--porcelain") == ""


def test_git_checks_out_a_rename_by_case_and_back(repository: Path) -> None:
    git("mv", "readme.md", "README.md")
    git("commit", "--quiet", "-m", "second")
    git("checkout", "--quiet", "HEAD~1")
    assert "readme.md" in os.listdir(repository)
    git("checkout", "--quiet", "main")
    assert "README.md" in os.listdir(repository)
    assert git("status", "--porcelain") == ""


def test_git_stashes_and_restores(repository: Path) -> None:
    (repository / "README.MD").write_text("changed\n", encoding="utf-8")
    git("stash")
    assert (repository / "readme.md").read_text(encoding="utf-8") == "hello\n"
    git("stash", "pop")
    assert (repository / "readme.md").read_text(encoding="utf-8") == "changed\n"


def test_git_clones(repository: Path, folder: Path) -> None:
    git("clone", "--quiet", "--no-local", str(repository), "clone", folder=".")
    assert git("status", "--porcelain", folder="clone") == ""
    assert git("fsck", "--strict", folder="clone") == ""
    assert (folder / "CLONE" / "src" / "MODULE.py").exists()


def test_import_still_minds_case(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "Casefs_Module.py").write_text("X = 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    with pytest.raises(ModuleNotFoundError):
        __import__("casefs_module")
    assert __import__("Casefs_Module").X == 1


def test_an_archive_is_unpacked_and_packed_alike(folder: Path) -> None:
    (folder / "one").mkdir()
    for number in range(50):
        (folder / "one" / f"File{number}").write_text(str(number), encoding="utf-8")
    with tarfile.open("a.tar", "w") as archive:
        archive.add("ONE", "two")
    with tarfile.open("A.TAR") as archive:
        archive.extractall(filter="data")
    assert sorted(os.listdir("TWO")) == sorted(f"File{number}" for number in range(50))
    assert (folder / "two" / "FILE49").read_text(encoding="utf-8") == "49"

"""A real repository for each test."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from paritygate.outcomes.trees import Tree
from paritygate.outcomes.words import Worktree
from paritygate.snapshot.survey import Request
from paritygate.snapshot.tree import take_all

Make = Callable[[str], "Project"]


class Project:
    """A directory, usually a repository, with what tests do to it and ask of it."""

    def __init__(self, path: Path, home: Path) -> None:
        self.path = path
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def git(self, *arguments: str, at: str = "") -> str:
        """Run git in it, or in a directory below it."""
        identity = {f"GIT_{who}_{what}": "someone@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        command = ["git", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main", *arguments]
        done = subprocess.run(command, cwd=self.path / at, env=self.environ | identity, check=True, capture_output=True)
        return os.fsdecode(done.stdout).strip()

    def write(self, name: str | bytes, content: str | bytes = "", mode: int = 0o644) -> Path:
        """Write a file, and the directories above it."""
        path = self.path / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(mode)
        return path

    def commit(self, at: str = "") -> None:
        """Commit everything there is."""
        self.git("add", "--all", at=at)
        self.git("commit", "--quiet", "--allow-empty", "--message=a commit", at=at)

    def trees(
        self, directory: str = "", include: tuple[str, ...] = (), variables: dict[str, str] | None = None
    ) -> tuple[Tree, Tree]:
        """Take the dirty and the clean tree."""
        request = Request(project=str(self.path / directory), environ=self.environ | (variables or {}), include=include)
        taken = take_all(request, (Worktree.DIRTY, Worktree.CLEAN))
        return taken[Worktree.DIRTY], taken[Worktree.CLEAN]


def files(tree: Tree) -> list[str]:
    """List everything in a tree but its directories."""
    return [entry.path for entry in tree.entries if entry.kind != "directory"]


@pytest.fixture
def directory(tmp_path: Path) -> Make:
    """Make plain directories."""
    home = tmp_path / "home"
    home.mkdir()

    def make(name: str) -> Project:
        path = tmp_path / name
        path.mkdir()
        return Project(path, home)

    return make


@pytest.fixture
def project(directory: Make) -> Project:
    """Make a repository with one committed test."""
    made = directory("project")
    made.git("init", "--quiet")
    made.write("test_a.py", "def test_a(): pass\n")
    made.commit()
    return made

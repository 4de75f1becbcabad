"""A project in a real repository for each test, and the command line asked in it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from paritygate.cli.commands import program
from paritygate.cli.main import outcome_of
from paritygate.reports.hazards import Document


class Project:
    """A repository and what the command says of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.git("init", "--quiet")

    def git(self, *arguments: str) -> None:
        """Run git in it."""
        identity = {f"GIT_{who}_{what}": "someone@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.path.parent), "GIT_CONFIG_NOSYSTEM": "1", **identity}
        subprocess.run(["git", *arguments], cwd=self.path, env=environ, check=True, capture_output=True)

    def write(self, name: str, content: str | bytes = "") -> Path:
        """Write a file, and the folders above it."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def commit(self) -> None:
        """Commit everything there is."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=a commit")

    def ask(self, *arguments: str) -> Result:
        """Run `paritygate hazards` on it; its exit code is the command's, errors of ours included."""
        runner = CliRunner()
        return runner.invoke(program, ["hazards", "--project", str(self.path), *arguments], standalone_mode=False)

    def code(self, *arguments: str) -> int:
        """Say with which code the program would end."""
        command = ["hazards", "--project", str(self.path), *arguments]
        return outcome_of(lambda: program.main(command, "paritygate", standalone_mode=False), debug=False)

    def document(self, *arguments: str) -> Document:
        """Ask for JSON and read it."""
        return msgspec.json.decode(self.ask("--format", "json", *arguments).stdout, type=Document)

    def found(self, *arguments: str) -> list[str]:
        """List what was found, as `line kind`, with the file where there are several."""
        hazards = self.document(*arguments).hazards
        several = len({each.file for each in hazards}) > 1
        return [f"{each.file}:{each.line} {each.kind}" if several else f"{each.line} {each.kind}" for each in hazards]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Make an empty repository."""
    (tmp_path / "project").mkdir()
    return Project(tmp_path / "project")


@pytest.fixture
def test_file(project: Project) -> Callable[[str], list[str]]:
    """Check one test module and list what is found in it."""

    def check(content: str) -> list[str]:
        project.write("tests/test_a.py", content)
        project.commit()
        return project.found()

    return check

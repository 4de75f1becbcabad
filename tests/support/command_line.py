"""The real command line in this process: its exit code and both its streams, from a folder of the test's own."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

import msgspec

from paritygate.cli.main import main
from tests.support.samples import clean_environment, git


class Said(msgspec.Struct, frozen=True):
    """How a command ended and what it said."""

    code: int
    out: str
    err: str


def call(project: Path, *arguments: str, variables: Mapping[str, str] | None = None) -> Said:
    """Run a command in a project's folder, as somebody would who stands there."""
    out, err = io.StringIO(), io.StringIO()
    environment = {name: value for name, value in clean_environment().items() if name != "CI"} | dict(variables or {})
    code: object = None
    with (
        contextlib.chdir(project),
        mock.patch.dict("os.environ", environment, clear=True),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main(list(arguments))
        except SystemExit as ended:
            code = ended.code
    return Said(code if isinstance(code, int) else -1, out.getvalue(), err.getvalue())


def commit(project: Path, *, new: bool = False) -> Path:
    """Commit all that is there, in a repository of its own where there is none yet."""
    if new:
        git(project, "init", "--quiet", "--initial-branch=main")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message=All that is known", "--allow-empty")
    return project

"""The sessions: `engine` and `parity` for users of a checkout, `tests`, `casefs` and `lint` for those who work on it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.sessions = ["parity"]
nox.options.reuse_existing_virtualenvs = True
nox.options.error_on_missing_interpreters = True

TEST_GROUP = nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), "test", "browser", "documents")
LINT_GROUP = nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), "lint")


def end_with_the_code_of(session: nox.Session, *arguments: str) -> None:
    """Run paritygate in the session's environment; its exit status becomes that of nox, which would say 1 for every failure."""
    program = Path(session.bin, "paritygate")
    session.log("paritygate %s", " ".join(arguments))
    code = subprocess.call([program, *arguments])  # noqa: S603  # the program that was just installed
    if code:
        sys.exit(code)


@nox.session
def engine(session: nox.Session) -> None:
    """Make sure that an engine answers and that there is a base image to start from."""
    session.install("-e", ".")
    end_with_the_code_of(session, "engine")


@nox.session
def parity(session: nox.Session) -> None:
    """Run the gate; what follows `--` is the selection and options."""
    session.install("-e", ".")
    end_with_the_code_of(session, "run", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Run the whole suite, engine included, in random order and on two workers."""
    session.install("-e", ".", *TEST_GROUP)
    # Tests of a real engine take a thousand times as long as others: who is done first takes over from the other.
    session.run("pytest", "-n", "2", "--dist", "worksteal", *session.posargs)


@nox.session
def casefs(session: nox.Session) -> None:
    """Test the case-insensitive filesystem; takes root, /dev/fuse, a C compiler and the headers of libfuse 3."""
    session.install("-e", ".", *TEST_GROUP)
    session.run("pytest", "-m", "fuse", "tests/casefs", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, types and structure."""
    session.install("-e", ".", *TEST_GROUP, *LINT_GROUP)
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("mypy")

"""The pytest plugin of the wheel: the mark `parity_exclude`, pins, and an ordinary suite that is held to locks and freezes.

It needs nothing but pytest, and does nothing but that until it is asked, by options, by `pytest.ini` or by a line in a conftest.
What it holds the suite to is what the command line says, in a process of its own: no test can have changed that one's clock.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

MARK = "parity_exclude(reason): leave this test out of parity runs, and say why"
PIN = "pin zone, locale, hash seed, bytecode and random numbers to the values of `[tool.paritygate.pins]`"
PINS = "paritygate.pytest_pins"
"""What does the pinning; loaded where it is asked for, since it takes more than pytest."""
IN_A_CELL = "paritygate_recorder"
"""Where this module is loaded, a gate has checked all this already, and its cells have other clocks and another `.git`."""

CHECKS = {
    "locks": (("lock", "--check"), "make sure, as a test of its own, that locked fixtures are what they were"),
    "freezes": (("freeze", "check"), "fail, by a test of its own, when a frozen test is past its last day"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Say what can be asked for; in a cell the recorder does, which every cell has."""
    if IN_A_CELL in sys.modules:
        return
    group = parser.getgroup("paritygate")
    for name, meaning in {**{name: meaning for name, (_, meaning) in CHECKS.items()}, "pin": PIN}.items():
        group.addoption(f"--parity-{name}", action="store_true", default=False, help=meaning)
        parser.addini(f"parity_{name}", meaning, type="bool", default=False)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> Iterator[None]:
    """Pin the suite before any code of the project runs, and before pytest captures what is printed."""
    if early_config.known_args_namespace.parity_pin or early_config.getini("parity_pin"):
        early_config.pluginmanager.import_plugin(PINS)
        sys.modules[PINS].pin_suite(early_config, args)
    yield


@pytest.fixture
def pinned_environment(pytestconfig: pytest.Config) -> Iterator[Mapping[str, str]]:
    """Pin zone, locale, bytecode and random numbers while a test runs: the variables that are set, none where pins yield."""
    pytestconfig.pluginmanager.import_plugin(PINS)
    with sys.modules[PINS].pinned(pytestconfig) as variables:
        yield variables


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known, so that strict markers take it."""
    config.addinivalue_line("markers", MARK)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Put what was asked for in front, when all others have chosen and ordered theirs."""
    yield
    if IN_A_CELL not in sys.modules:
        items[:0] = [
            Discipline.from_parent(session, name=f"paritygate {' '.join(words)}", words=words)
            for name, (words, _) in CHECKS.items()
            if config.getoption(f"parity_{name}") or config.getini(f"parity_{name}")
        ]


class Discipline(pytest.Item):
    """A test that passes when the command line says 0."""

    def __init__(self, *, words: tuple[str, ...], **given: object) -> None:
        super().__init__(**given)  # type: ignore[arg-type]  # pytest's own, which it hands on
        self._words = words

    def runtest(self) -> None:
        """Ask the command line."""
        command = [sys.executable, "-m", "paritygate", *self._words, "--project", str(self.config.rootpath)]
        done = subprocess.run(  # noqa: S603  # the interpreter that runs this, and words of ours
            command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace", check=False
        )
        if done.returncode:
            raise BrokenError(done.stderr.strip() or f"`paritygate {' '.join(self._words)}` ended with {done.returncode}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *style: object) -> str:
        """Show what the command line says, and no traceback."""
        if isinstance(excinfo.value, BrokenError):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo, *style))  # type: ignore[arg-type]  # pytest's own, which it hands on

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Say what this is, since it is in no file."""
        return self.config.rootpath, None, self.name


class BrokenError(Exception):
    """What the command line has found."""

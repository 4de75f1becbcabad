"""The hash seed, which counts only before the interpreter starts: so pytest is started once more in the same process.

It does so only where the process is pytest's and nothing else's, and says why where it is not.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from paritygate.pinning.process import HASH_SEED

MARK = "PARITYGATE_PINS_RESTARTED"
"""Names the process that was started once more, since that keeps its number: it is not started a third time."""

_WORD = "paritygate"
_MODULES = frozenset({"pytest", "pytest.__main__"})
_SCRIPTS = frozenset({"pytest", "py.test"})


def pin_hash_seed(pinned: Mapping[str, str | None], arguments: Sequence[str]) -> str:
    """Make sure that this interpreter has the hash seed, if need be by starting it anew: then this never returns.

    `arguments` are those that pytest was given. Returns why the seed is not in force, empty where it is.
    """
    restarted = os.environ.pop(MARK, "") == str(os.getpid())
    if (restarted and not sys.flags.ignore_environment) or is_in_force(pinned[HASH_SEED] or ""):
        return ""
    hindrance = "python ignores variables (`-E`, `-I`)" if sys.flags.ignore_environment else _hindrance(arguments)
    if not hindrance:
        start_anew(pinned)
    return hindrance


def is_in_force(seed: str) -> bool:
    """Say whether this interpreter hashes as one does that starts with that seed; the variable alone may have been set later."""
    if os.environ.get(HASH_SEED) != seed or sys.flags.ignore_environment:
        return False
    command = [sys.executable, "-S", "-c", f"print(hash({_WORD!r}))"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)  # noqa: S603  # this interpreter
    return done.stdout.split() == [str(hash(_WORD)).encode()]


def start_anew(pinned: Mapping[str, str | None]) -> None:
    """Replace this program by itself, with the same words, in the same process: its end is pytest's own."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    wanted = {**os.environ, **pinned, MARK: str(os.getpid())}
    environment = {name: value for name, value in wanted.items() if value is not None}
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)  # noqa: S606  # the very same program


def _hindrance(arguments: Sequence[str]) -> str:
    """Say why this process cannot be started anew: it has to be pytest from its first word to its last."""
    if os.name != "posix":
        return "this system cannot replace a running program"
    if not _is_pytest() or list(arguments) != sys.argv[1:] or "PYTEST_CURRENT_TEST" in os.environ:
        return "pytest was started from inside another program"
    return ""


def _is_pytest() -> bool:
    """Say whether the program is `python -m pytest` or the script `pytest`."""
    main = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)
    if spec is not None:
        return spec.name in _MODULES
    return PurePath(getattr(main, "__file__", None) or "").name in _SCRIPTS

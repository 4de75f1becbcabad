"""Look after the tests whether locked files are still what was sent, and which test was running when one was changed."""

import hashlib
import os
import stat
import time
from typing import Any, Dict, Iterator, List, Tuple

Id = Tuple[str, int]
Span = Tuple[float, float, Id]

PIECE = 1 << 20
LATE = 0.05
"""For how many seconds a file's time may lie before the moment of its change: the kernel stamps it with its last tick, which a
busy machine may have given late. Too short a time would name the test before."""
MOST_TESTS = 100


def rewritten(workspace: str, locked: Dict[str, List[Any]], spans: List[Span]) -> List[Dict[str, Any]]:
    """List the locked files that are no longer what they were, with the tests that ran when that happened.

    `spans` are the first and last moments of tests on the monotonic clock. Of a file that is gone nobody can say since when.
    """
    offset = time.time() - time.monotonic()
    found = []
    for path, (digest, size) in locked.items():
        what, changed = look(os.path.join(workspace, path), digest, size)
        if what:
            tests = list(running_at(changed - offset, spans)) if changed else []
            named = [{"nodeid": nodeid, "occurrence": occurrence} for nodeid, occurrence in tests if len(tests) <= MOST_TESTS]
            found.append({"path": path, "what": what, "tests": named})
    return found


def look(path: str, digest: str, size: int) -> Tuple[str, float]:
    """Say what has become of a file, empty if nothing, and when it was last changed, which no test can backdate; 0 for unknown.

    Nothing that tests may have put there is waited for or followed.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except FileNotFoundError:
        return "gone", 0.0
    except OSError:
        return "unreadable", changed_at(path)
    with os.fdopen(descriptor, "rb") as stream:
        facts = os.fstat(stream.fileno())
        if not stat.S_ISREG(facts.st_mode):
            return "replaced", facts.st_ctime
        if facts.st_size == size and sha256(stream) == digest:
            return "", 0.0
        return "changed", facts.st_ctime


def changed_at(path: str) -> float:
    """Say when a name that cannot be opened was last changed; 0 for unknown."""
    try:
        return os.lstat(path).st_ctime
    except OSError:
        return 0.0


def sha256(stream: Any) -> str:
    """Hash what is in a file."""
    digest = hashlib.sha256()
    piece = stream.read(PIECE)
    while piece:
        digest.update(piece)
        piece = stream.read(PIECE)
    return digest.hexdigest()


def running_at(moment: float, spans: List[Span]) -> Iterator[Id]:
    """Yield the tests that were running at a moment of the monotonic clock, or began so soon after it that it may be theirs."""
    for began, ended, test in spans:
        if began <= moment + LATE and moment <= ended:
            yield test

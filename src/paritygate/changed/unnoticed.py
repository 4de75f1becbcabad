"""Files that hold tests by their content, and that pytest does not look into because of their names."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from paritygate.changed.project import CONFIGURATION, Conventions, conventions

MOST_READ = 2_000
LARGEST = 1 << 20
SHOWN = 3
_DEFINES = re.compile(rb"^\s*(?:async\s+)?def test|^class [^\n]*TestCase", re.MULTILINE)


def known_of(project: Path) -> Conventions:
    """Read how tests of a project are called."""
    texts = {name: (project / name).read_text("utf-8", "replace") for name in CONFIGURATION if (project / name).is_file()}
    return conventions(texts, ())


def unnoticed(project: Path, paths: Iterable[str], known: Conventions) -> tuple[str, ...]:
    """Find such files of a project among some: their names speak of tests, too, so that few are read."""
    called = (path for path in paths if path.endswith(".py") and "test" in posixpath.basename(path).lower())
    asked = islice((path for path in called if not known.is_test(path) and known.is_entered(path)), MOST_READ)
    return tuple(path for path in asked if _DEFINES.search(_start(project / path)))


def said_of(files: tuple[str, ...], known: Conventions) -> Iterator[str]:
    """Say in two parts what there is, and what to do about it."""
    named = ", ".join(f"`{path}`" for path in files[:SHOWN])
    more = f" and {len(files) - SHOWN} more" if len(files) > SHOWN else ""
    wanted = " or ".join(f"`{pattern}`" for pattern in known.files)
    yield f"by their content there are tests in {named}{more}, which pytest passes over, since it looks for {wanted}"
    yield f"name what is to run, as in `paritygate run {files[0]}`, or set `python_files` in pytest's configuration"


def _start(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(LARGEST)
    except OSError:
        return b""

"""Splits a selection into shards of about the same length: every job comes to the same split by itself, from the same facts.

The facts are the names of files and what their tests took in an earlier run; nothing is collected for it.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from pathlib import Path
from statistics import median

import msgspec

from paritygate import archive
from paritygate.errors import UsageError
from paritygate.gate.grounds.parts import Trees
from paritygate.outcomes.cells import Cell, Shard
from paritygate.outcomes.plans import Selection, Share
from paritygate.outcomes.words import Purpose

TEST_FILES = ("test_*.py", "*_test.py", "tests.py")
_SHARD = re.compile(r"(\d{1,6})/(\d{1,6})")


def parse(text: str) -> Shard:
    """Read `i/n`, the i-th of n shards; raises `UsageError`."""
    found = _SHARD.fullmatch(text.strip())
    shard = Shard(int(found[1]), int(found[2])) if found else Shard(0, 0)
    if not 1 <= shard.number <= shard.total:
        raise UsageError(f"`--shard {text}` is no shard", "write `--shard 2/4` for the second of four")
    return shard


def durations(report: Path) -> dict[str, float]:
    """Say from a report, or a file of cells, how many seconds the tests of each file take in a cell; raises `UsageError`."""
    cells = [cell for cell in archive.read_cells(report).cells if cell.purpose is Purpose.GATE and cell.tests]
    if not cells:
        raise UsageError(f"`{report}` has no cell in which tests ran, so it says no durations", "give a report of a whole run")
    taken = [_seconds(cell) for cell in cells]
    files = dict.fromkeys(file for each in taken for file in each)
    return {file: sum(known) / len(known) for file in files if (known := [each[file] for each in taken if file in each])}


def _seconds(cell: Cell) -> dict[str, float]:
    seconds: dict[str, float] = {}
    for run in cell.tests:
        file = run.nodeid.partition("::")[0]
        seconds[file] = seconds.get(file, 0.0) + run.seconds
    return seconds


def share(shard: Shard, asked: Selection, trees: Trees, taken: Mapping[str, float]) -> Share:
    """Say which test files belong to a shard."""
    names = {entry.path for one in trees.values() for entry in one.entries if entry.kind != "directory"}
    files = [name for name in names if _is_asked_for(name, asked) and (name in taken or _is_test(name))]
    return Share(number=shard.number, total=shard.total, files=split(files, taken, shard.total))


def split(files: Iterable[str], taken: Mapping[str, float], total: int) -> dict[str, int]:
    """Share files out, the longest first and each to the shard that has least so far; one of unknown length counts as most do."""
    listed = sorted(files)
    usual = median([taken[each] for each in listed if each in taken] or [1.0])
    # Whole microseconds: sums of them are exact, whatever the order in which they are added.
    length = {each: 1 + round(1_000_000 * taken.get(each, usual)) for each in listed}
    loads = [0] * total
    chosen: dict[str, int] = {}
    for each in sorted(listed, key=lambda name: (-length[name], name)):
        number = min(range(total), key=lambda place: (loads[place], place))
        loads[number] += length[each]
        chosen[each] = number + 1
    return dict(sorted(chosen.items()))


def described(share: Share) -> Shard:
    """Say which shard it is, with a digest of the whole split."""
    content = msgspec.json.encode((share.total, share.files), order="sorted")
    return Shard(share.number, share.total, hashlib.blake2b(content, digest_size=8).hexdigest())


def _is_test(name: str) -> bool:
    return any(fnmatch(posixpath.basename(name), pattern) for pattern in TEST_FILES)


def _is_asked_for(name: str, asked: Selection) -> bool:
    wanted = [posixpath.normpath(posixpath.join(asked.directory, path.partition("::")[0])) for path in asked.paths]
    return not wanted or any(each in {".", name} or name.startswith(f"{each}/") for each in wanted)

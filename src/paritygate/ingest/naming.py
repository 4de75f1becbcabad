"""Gives pasted tests the ids that they have in other cells, where it is clear which they are; what is not clear stays without."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

import msgspec

from paritygate.ingest.found import Found
from paritygate.outcomes.cells import NodeId, TestRun

_GROUP = re.compile(r"@\w+$")
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}", re.IGNORECASE)


class Naming(msgspec.Struct, frozen=True, kw_only=True):
    """Tests with their ids; `unclear` has all that a test could be of each that could be several; `prefix` was put before ids."""

    tests: tuple[TestRun, ...]
    unclear: tuple[tuple[str, ...], ...] = ()
    prefix: str = ""


def name(found: Found, known: Collection[str]) -> Naming:
    """Name the tests that were found by the ids that are `known` from other cells, and without these as they are written."""
    prefix = _prefix(found.names, known)
    tests: list[TestRun] = []
    unclear: list[tuple[str, ...]] = []
    met: dict[str, int] = {}
    for run, names in zip(found.tests, found.names, strict=True):
        nodeid = _choose([prefix + each for each in names], known)
        if not nodeid:
            unclear.append(names)
            continue
        occurrence = met[nodeid] = met.get(nodeid, -1) + 1
        tests.append(msgspec.structs.replace(run, nodeid=NodeId(nodeid), occurrence=occurrence))
    return Naming(tests=tuple(tests), unclear=tuple(unclear), prefix=prefix)


def _choose(names: Sequence[str], known: Collection[str]) -> str:
    recognised = list(dict.fromkeys(form for each in names for form in _forms(each) if form in known))
    if recognised:
        return recognised[0] if len(recognised) == 1 else ""
    if len(names) == 1:
        return names[0]
    files = {each.partition("::")[0] for each in known}
    there = [each for each in names if each.partition("::")[0] in files]
    return there[0] if len(there) == 1 else ""


def _forms(nodeid: str) -> Iterator[str]:
    """Yield an id as it is, without the group that pytest-xdist puts behind it, and without addresses of objects."""
    yield nodeid
    yield _GROUP.sub("", nodeid)
    yield _ADDRESS.sub("0x...", nodeid)


def _prefix(names: Sequence[tuple[str, ...]], known: Collection[str]) -> str:
    """Find the folder in which pytest ran, if ids elsewhere are from above it: the one folder that all files lie in."""
    files = {each.partition("::")[0] for each in known}
    asked = {one[0].partition("::")[0] for one in names if len(one) == 1}
    if not files or not asked or not asked.isdisjoint(files):
        return ""
    per_file = ({each[: -len(one)] for each in files if each.endswith(f"/{one}")} for one in asked)
    common = set.intersection(*per_file)
    return common.pop() if len(common) == 1 else ""

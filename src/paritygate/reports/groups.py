"""Tests of which the same is to be told: told once, with the first of them and what files they touch between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from paritygate.classifier.labels import UNSTABLE
from paritygate.outcomes.artifact import Finding
from paritygate.outcomes.cells import NodeId
from paritygate.reports.files import files
from paritygate.reports.ranking import reproduction
from paritygate.reports.text import COPIED, outcomes_of, spell_out, wrapped

MOST_EXAMPLES = 5
MOST_PLACES = 3
INDENT = "    "


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What is told of a test, uncut: how it fails, and what stands above and below the files behind its cause.

    These may be others for each test of one cause. `whole` are the messages that pytest itself has shortened where they are
    shown, so that no two are held to be alike which are not.
    """

    finding: Finding
    failures: tuple[str, ...]
    whole: tuple[str, ...] = ()
    above: tuple[str, ...]
    below: tuple[str, ...]


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Tests of one label of which the same is told. Those that are not shown are counted: `shown` begins with the first."""

    findings: tuple[Finding, ...]
    shown: int
    failures: tuple[str, ...]
    above: tuple[str, ...]
    below: tuple[str, ...]

    @property
    def has_cause(self) -> bool:
        """Whether it is known what makes these tests differ, so that a few of them stand for all."""
        return self.findings[0].cause is not None

    @property
    def left(self) -> tuple[Finding, ...]:
        """Those that are not told of in any way."""
        return () if self.has_cause else self.findings[self.shown :]


def grouped(told: Iterable[Told], room: int) -> Iterator[Group]:
    """Put together what is told in the same words, and did the same where a few stand for all; `room` tests are shown at most."""
    found: dict[tuple[object, ...], list[Told]] = {}
    for each in told:
        did = () if each.finding.cause is None or each.finding.label in UNSTABLE else tuple(each.finding.outcomes.items())
        found.setdefault((each.finding.label, each.failures, each.whole, each.above, each.below, did), []).append(each)
    for some in found.values():
        most = min(room, MOST_EXAMPLES if some[0].finding.cause is not None else room)
        findings = tuple(each.finding for each in some)
        group = Group(
            findings=findings,
            shown=min(most, len(findings)),
            failures=some[0].failures,
            above=some[0].above,
            below=some[0].below,
        )
        if room:
            yield group
        room -= group.shown


def lines_of(group: Group, width: int, report: str) -> Iterator[str]:
    """Show the first tests of a group and how many more there are, what is to be told of all, and how to run one once more."""
    shown = group.findings[: group.shown]
    for finding in shown:
        which = f" (number {finding.occurrence + 1} of this id)" if finding.occurrence else ""
        yield f"  {spell_out(finding.nodeid)}{which}   {outcomes_of(finding.outcomes)}"
    count = len(group.findings) if group.has_cause else len(shown)
    if more := group.findings[group.shown :] if group.has_cause else ():
        yield f"  and {len(more)} more like these: {_places(each.nodeid for each in more)}"
    touched = tuple(files(*(each.cause for each in group.findings if each.cause is not None)))
    told = (*group.above, *touched, *group.below)
    if (group.failures or told) and count > 1:
        yield f"{INDENT}of all {count}:"
    for line in group.failures:
        indent = INDENT + line[: len(line) - len(line.lstrip())]
        yield from wrapped(line.lstrip(), width, indent, f"{indent}  ")
    yield from (f"{INDENT}{line}" for line in told)
    yield from _reproduction(shown, width, report)


def _places(nodeids: Iterable[NodeId]) -> str:
    counted = Counter(nodeid.partition("::")[0] for nodeid in nodeids).most_common()
    said = [f"{spell_out(file)} {count}" for file, count in counted[:MOST_PLACES]]
    elsewhere = sum(count for _, count in counted[MOST_PLACES:])
    return ", ".join([*said, *([f"elsewhere {elsewhere}"] if elsewhere else [])])


def _reproduction(shown: Sequence[Finding], width: int, report: str) -> Iterator[str]:
    """Say how to run one of these tests once more where it shows: one whose command fits into a line, if there is one."""
    lines = [f"{INDENT}{COPIED}{command}" for each in shown if (command := reproduction(each, report))]
    fitting = (line for line in lines if len(line) <= width)
    if lines:
        yield next(fitting, min(lines, key=len))

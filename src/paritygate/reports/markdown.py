"""A run as a comment on a pull request or the summary of a step: short, the worst first, and within what GitHub takes.

Whatever comes from tests stands in code spans and fences that nothing in it can close, or escaped in lines that are HTML alone:
so it is neither formatted, nor a link, nor a mention of anybody.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence

from paritygate.outcomes.artifact import Artifact, Finding, Side
from paritygate.outcomes.cells import TestId
from paritygate.outcomes.sweeps import Rule, Sweep
from paritygate.outcomes.words import CellStatus, Label, VerdictName
from paritygate.reports.advice import after, after_status
from paritygate.reports.causes import in_a_line, kind
from paritygate.reports.contrast import of_each_kind
from paritygate.reports.deaths import name
from paritygate.reports.files import files
from paritygate.reports.groups import MOST_EXAMPLES
from paritygate.reports.ranking import is_let_through, ranked, reproduction
from paritygate.reports.sides import Sides, sides_of, words_of
from paritygate.reports.sweeps import MOST_RULES, grouped, heading, lines, sign
from paritygate.reports.terminal import remarks
from paritygate.reports.text import cut, in_a_block, in_one_line, outcomes_of, spell_out
from paritygate.reports.varied import names, with_values

MOST_BYTES = 65_536
"""What a comment takes, counted in bytes of UTF-8, which are never fewer than characters."""
ROOM_FOR_THE_END = 400
MOST_MESSAGE = 1500
MOST_SIDES = 4
MOST_ID = 400
MOST_OF_SWEEPS = 24_000
"""How many bytes of a comment tell of rules and values."""
MOST_VALUES = 40
MOST_VALUE = 80
MOST_TABLE = 8000
BACKTICKS = re.compile(r"`+")
WORDS = re.compile(r"[A-Za-z0-9 ,.;:()'\"%=/-]*")
WITHIN_A_WORD = re.compile(r"(?<=[A-Za-z0-9])_(?=[A-Za-z0-9])")
STARTS = re.compile(r"[A-Za-z(']|[0-9]+ [A-Za-z]")
MARKS = {
    VerdictName.PARITY: "\N{WHITE HEAVY CHECK MARK}",
    VerdictName.CONSISTENT_RED: "\N{CROSS MARK}",
    VerdictName.NONDETERMINISM: "\N{GAME DIE}",
    VerdictName.COUPLING: "\N{LINK SYMBOL}",
    VerdictName.NO_VERDICT: "\N{BLACK QUESTION MARK ORNAMENT}",
    VerdictName.REFUSED: "\N{NO ENTRY}",
}


def render(artifact: Artifact, report: str = "") -> str:
    """Write the comment. `report` is the path of the artifact as commands are to have it, empty where it lies nowhere."""
    known = report if artifact.material is not None else ""
    text = "\n\n".join(_head(artifact))
    chosen = ranked(artifact)
    sides = sides_of(artifact, chosen)
    label: tuple[Label, bool] | None = None
    groups = _groups(artifact, chosen, sides)
    for number, some in enumerate(groups):
        finding = some[0]
        block = "\n\n".join(_told(some, sides[TestId(finding.nodeid, finding.occurrence)], known))
        group = (finding.label, is_let_through(artifact, finding))
        heading = "" if group == label else f"### {_heading(artifact, finding)}\n\n"
        added = f"{text}\n\n{heading}{block}"
        if _size(added) + ROOM_FOR_THE_END > MOST_BYTES:
            return f"{text}\n\n{_rest([each for left in groups[number:] for each in left])}\n"
        text, label = added, group
    return "\n\n".join([text, *_end(artifact, MOST_BYTES - _size(text) - ROOM_FOR_THE_END)]) + "\n"


def _groups(artifact: Artifact, chosen: Sequence[Finding], sides: Sides) -> list[list[Finding]]:
    """Put tests together that have one cause and say the same on each side; each where no cause is known by itself."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for number, finding in enumerate(chosen):
        said = tuple((side.env, side.outcome, words_of(side)) for side in sides[TestId(finding.nodeid, finding.occurrence)])
        cause = in_a_line(finding.cause) if finding.cause is not None else number
        groups.setdefault((finding.label, is_let_through(artifact, finding), cause, said, finding.note), []).append(finding)
    return list(groups.values())


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _head(artifact: Artifact) -> Iterator[str]:
    verdict = artifact.verdict
    line = in_one_line(verdict.line or verdict.name).removeprefix(f"{verdict.name}: ")
    yield f"## {MARKS[verdict.name]} {verdict.name} (exit {verdict.exit_code})"
    yield sentence(line[:MOST_MESSAGE])
    for cell in [cell for cell in artifact.cells if cell.status is not CellStatus.FINISHED][:MOST_SIDES]:
        yield f"Cell {span(name(cell))} {cell.status}: {after_status(cell)}"
    yield from _sweeps(artifact)
    counted = [(label, artifact.labels.get(label, 0)) for label in Label if artifact.labels.get(label, 0)]
    if counted:
        rows = [f"| `{label}` | {count} | {after(label, artifact.verdict)} |" for label, count in counted]
        yield "\n".join(["| label | tests | what to do |", "|---|---:|---|", *rows])
    if verdict.axes:
        where = f" ({span(names(artifact))})" if names(artifact) else ""
        yield f"Varied{where}: {', '.join(span(f'{axis} {values}') for axis, values in with_values(artifact, verdict.axes))}"
    if verdict.unmeasured:
        yield f"As asked for, not measured: {', '.join(f'`{axis}`' for axis in verdict.unmeasured)}"


def _sweeps(artifact: Artifact) -> Iterator[str]:
    """Tell of every axis that was swept over, as far as there is room; what is left out is said."""
    room = MOST_OF_SWEEPS
    for sweep in artifact.sweeps:
        yield f"### {heading(sweep)}"
        told = "\n\n".join(_rules(sweep))
        room -= _size(told)
        if room < 0:
            yield "The artifact and the HTML report have the rules and the table."
        elif told:
            yield told


def _rules(sweep: Sweep) -> Iterator[str]:
    """Tell of one axis: the rules, then the table of values and rules as text."""
    groups = grouped(sweep)
    for number, (text, rules) in enumerate(groups[:MOST_RULES], start=1):
        named = ", ".join(span(nodeid) for nodeid in dict.fromkeys(rule.nodeid for rule in rules[:MOST_EXAMPLES]))
        more = f" and {len(rules) - MOST_EXAMPLES} more" if len(rules) > MOST_EXAMPLES else ""
        yield f"{number}. {sentence(cut(text, MOST_ID))}: {named}{more}"
    if len(groups) > MOST_RULES:
        yield f"and {len(groups) - MOST_RULES} more rules in the artifact"
    if groups:
        yield fenced("\n".join(_table(sweep, groups[:MOST_RULES])), most=MOST_TABLE)


def _table(sweep: Sweep, groups: Sequence[tuple[str, list[Rule]]]) -> Iterator[str]:
    told = list(lines(sweep, groups))
    shown = told[:MOST_VALUES]
    width = min(MOST_VALUE, max(len(each) for each in (sweep.axis, *(value for value, _, _ in shown))))
    numbers = "  ".join(str(number) for number in range(1, len(groups) + 1))
    yield f"{sweep.axis:<{width}}  {numbers}  why it is tried"
    for value, done, why in shown:
        yield f"{cut(value, width):<{width}}  {'  '.join(map(sign, done))}  {cut(why, MOST_VALUE)}".rstrip()
    if len(told) > len(shown):
        yield f"and {len(told) - len(shown)} more values in the artifact"
    seen = dict.fromkeys(outcome for _, done, _ in shown for outcome in done)
    yield ", ".join(f"{sign(each)} {'not known' if each is None else each.does}" for each in seen)


def sentence(text: str) -> str:
    """Write a sentence in which what stands between backticks is code, and so is what GitHub would take for more than words."""
    parts = spell_out(text).split("`")
    if len(parts) % 2 == 0:
        return span(text, MOST_MESSAGE)
    return "".join(part if _is_plain(part, number) else _in_code(part) for number, part in enumerate(parts) if part)


def _is_plain(part: str, number: int) -> bool:
    """Say whether a part of a sentence is words and nothing else: no mention, link, markup, and no start of a list."""
    plain = WITHIN_A_WORD.sub("", part)
    harmless = WORDS.fullmatch(plain) is not None and "://" not in part and "www." not in part.lower()
    return number % 2 == 0 and harmless and (number > 0 or STARTS.match(part) is not None)


def _in_code(part: str) -> str:
    """Write a code span with the spaces around it left outside."""
    inner = part.strip()
    before, behind = part[: len(part) - len(part.lstrip())], part[len(part.rstrip()) :]
    return f"{before}{span(inner, MOST_MESSAGE)}{behind}" if inner else part


def span(text: str, most: int = MOST_ID) -> str:
    """Write a code span that holds any text, and nothing beyond so many characters."""
    shown = spell_out(text)
    shown = shown if len(shown) <= most else f"{shown[: most - 3]}..."
    if not shown.strip():
        return "` `"
    ticks = "`" * (max((len(found) for found in BACKTICKS.findall(shown)), default=0) + 1)
    padding = " " if shown.startswith(("`", " ")) or shown.endswith(("`", " ")) else ""
    return f"{ticks}{padding}{shown}{padding}{ticks}"


def fenced(text: str, language: str = "text", most: int = MOST_MESSAGE) -> str:
    """Write a block that holds any text, and about so many characters of it."""
    shown = in_a_block(text, most)
    fence = "`" * max(3, max((len(found) for found in BACKTICKS.findall(shown)), default=0) + 1)
    return f"{fence}{language}\n{shown}\n{fence}"


def _heading(artifact: Artifact, finding: Finding) -> str:
    todo = "frozen, and let through" if is_let_through(artifact, finding) else after(finding.label, artifact.verdict)
    return f"{finding.label}: {todo}"


def _told(some: Sequence[Finding], sides: Sequence[Side], report: str) -> Iterator[str]:
    """Tell of a test, and of others of which the same is to be told: a line that is HTML alone, and behind it what is seen."""
    finding, more = some[0], some[1:]
    outcomes = outcomes_of(finding.outcomes)
    which = f" (number {finding.occurrence + 1})" if finding.occurrence else ""
    why = f" · {kind(finding.cause)}" if finding.cause is not None else ""
    nodeid = spell_out(finding.nodeid)
    shown = nodeid if len(nodeid) <= MOST_ID else f"{nodeid[: MOST_ID - 3]}..."
    others = f" · and {len(more)} more" if more else ""
    yield f"<details><summary><code>{html.escape(shown)}</code>{which}{html.escape(why)}{others}</summary>"
    yield span(outcomes)
    if more:
        named = ", ".join(span(each.nodeid) for each in more[: MOST_EXAMPLES - 1])
        yield f"And {len(more)} more like it: {named}{', ...' if len(more) >= MOST_EXAMPLES else ''}"
    for alike in [alike for alike in of_each_kind(sides) if words_of(alike[0])][:MOST_SIDES]:
        side, beside = alike[0], len({each.env for each in alike}) - 1
        where = f" at {span(f'{side.file}:{side.line}' if side.line else side.file)}" if side.file else ""
        also = f", and so in {beside} more environment{'s' * (beside != 1)}" if beside else ""
        yield f"{span(side.env)} {side.outcome}{where}{also}"
        yield fenced("\n".join(part for part in (side.source, words_of(side)) if part))
    if finding.cause is not None:
        yield f"Cause: {sentence(spell_out(in_a_line(finding.cause)))}"
        for line in files(*(each.cause for each in some if each.cause is not None)):
            yield f"- {sentence(line)}"
    for hazard in finding.hazards[:MOST_SIDES]:
        yield f"- hazard: {span(f'{hazard.file}:{hazard.line}')} {sentence(spell_out(hazard.what))}"
    if finding.note:
        yield f"Note: {sentence(spell_out(finding.note))}"
    if command := reproduction(finding, report):
        yield fenced(command, "sh")
    yield "</details>"


def _rest(left: Sequence[Finding]) -> str:
    tests = f"{len(left)} more test{'s' * (len(left) != 1)}"
    return f"**{tests} did not fit into a comment**: the artifact and the HTML report have them all."


def _end(artifact: Artifact, room: int) -> Iterator[str]:
    """List what was left out, and remarks, as far as there is room."""
    lines = [f"- excluded: {span(nodeid)}: {span(reason)}" for nodeid, reason in artifact.excluded.items()]
    lines += [f"- {span(in_one_line(str(line)))}" for line in remarks(artifact)]
    shown: list[str] = []
    for line in lines:
        room -= _size(line) + 1
        if room < 0:
            shown.append(f"- and {len(lines) - len(shown)} more in the artifact")
            break
        shown.append(line)
    if shown:
        yield "\n\n".join(["<details><summary>Excluded tests and notes</summary>", "\n".join(shown), "</details>"])

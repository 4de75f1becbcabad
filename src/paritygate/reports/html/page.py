"""Puts the page together: everything that is said goes through one template, which escapes all of it."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator
from importlib import resources

import jinja2
import msgspec
from markupsafe import Markup, escape

from paritygate.outcomes.artifact import Artifact
from paritygate.outcomes.cells import TestId
from paritygate.outcomes.words import CellStatus, Label, VerdictName
from paritygate.reports.advice import AFTER_STATUS, LOST, PROCEED, after, after_status
from paritygate.reports.causes import kind
from paritygate.reports.deaths import name, said_once
from paritygate.reports.freezes import SAYS
from paritygate.reports.html.cards import beyond, cards
from paritygate.reports.html.grid import grid
from paritygate.reports.html.letters import BLANK, LETTERS, columns, letters
from paritygate.reports.html.surroundings import surroundings
from paritygate.reports.html.swept import swept
from paritygate.reports.html.timeline import spoken, timeline
from paritygate.reports.ranking import WORST_FIRST
from paritygate.reports.terminal import remarks
from paritygate.reports.text import in_a_block, in_one_line
from paritygate.reports.touched import chosen
from paritygate.reports.varied import names, with_values

MOST_LISTED = 5000
"""How many tests beyond the cards a page lists for who reads it without scripts."""
MOST_TAIL = 4000
MOST_CAUSES = 5
"""How many causes of a label its line at the top names."""

DIAGNOSES = {
    Label.CONSISTENT_GREEN: ("stable green", "stable green", "same"),
    Label.CONSISTENT_RED: ("stable red", "stable red", "same"),
    Label.COUPLING: ("stable", "stable", "differ"),
    Label.NONDETERMINISM: ("unstable in one", "stable in the other", ""),
    Label.NONDETERMINISM_EVERYWHERE: ("unstable", "unstable", ""),
    Label.UNDECIDED: ("not known everywhere", "", ""),
    Label.EXCLUDED: ("not run", "not run", ""),
}
"""What each label says of a test within one environment, within the other, and between them."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the table of labels."""

    label: Label
    within: tuple[str, str]
    between: str
    count: int
    todo: str


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to do, and for what; `causes` counts the tests by their causes, where any has one."""

    what: str
    todo: str
    label: str = ""
    causes: str = ""


def render(artifact: Artifact, report: str = "") -> str:
    """Write the page. `report` is the path of the artifact as commands are to have it, empty where it lies nowhere."""
    environment = jinja2.Environment(
        autoescape=True,
        finalize=_fit,
        keep_trailing_newline=True,
        loader=jinja2.PackageLoader("paritygate", "reports/html/assets"),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "quoted": quoted,
        "spoken": spoken,
        "oneline": in_one_line,
        "tail": lambda text: in_a_block(text, MOST_TAIL),
    }
    return environment.get_template("page.html").render(_said(artifact, report))


def _fit(value: object) -> object:
    """Spell out what no page may hold in whatever is put into the template; lines stay lines."""
    return in_a_block(value, len(value)) if isinstance(value, str) and not isinstance(value, Markup) else value


def quoted(text: str) -> Markup:
    """Show what stands between backticks as code."""
    parts = in_a_block(text, len(text)).split("`")
    if len(parts) % 2 == 0:
        return escape("`".join(parts))
    return Markup().join(
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part) for number, part in enumerate(parts)
    )


def _said(artifact: Artifact, report: str) -> dict[str, object]:
    wanted = columns(artifact.tests)
    told = cards(artifact, wanted, report if artifact.material is not None else "")
    numbers = {TestId(card.nodeid, card.occurrence): card.number for card in told}
    style, script = _asset("page.css"), _asset("page.js")
    rest = beyond(artifact)
    return {
        "artifact": artifact,
        "verdict": artifact.verdict,
        "line": (artifact.verdict.line or artifact.verdict.name).removeprefix(f"{artifact.verdict.name}: "),
        "reasons": _reasons(artifact),
        "steps": tuple(_steps(artifact)),
        "rows": tuple(_rows(artifact)),
        "varied": tuple(with_values(artifact, artifact.verdict.axes)),
        "varied_in": names(artifact),
        "environments": tuple(wanted),
        "wanted": wanted,
        "cards": told,
        "causes": any(finding.cause is not None for finding in artifact.tests),
        "rest": tuple((each, letters(each, wanted)) for each in rest[:MOST_LISTED]),
        "more": max(0, len(rest) - MOST_LISTED),
        "count": len(artifact.tests) + len(artifact.excluded),
        "legend": {letter: str(outcome).replace("_", " ") for outcome, letter in LETTERS.items()} | {BLANK: "excluded"},
        "swept": tuple(swept(artifact)),
        "around": surroundings(artifact),
        "timeline": timeline(artifact.cells),
        "dead": tuple(
            (name(cell), cell, after_status(cell)) for cell in artifact.cells if cell.status is not CellStatus.FINISHED
        ),
        "rewritten": tuple((name(cell), each) for cell in artifact.cells for each in cell.rewritten),
        "freeze_says": SAYS,
        "touched": tuple(chosen(artifact.changed, 0)),
        "remarks": tuple(str(line) for line in remarks(artifact)),
        "data": Markup(grid(artifact, wanted, numbers)),  # noqa: S704  # nothing in it can end the element that it stands in
        "style": Markup(style),  # noqa: S704  # the project's own file
        "script": Markup(script),  # noqa: S704  # the project's own file
        "policy": _policy(style, script),
    }


def _asset(file: str) -> str:
    return (resources.files("paritygate.reports.html") / "assets" / file).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Allow the page its own style and script, and nothing else: whatever got past the escaping would still not run."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _reasons(artifact: Artifact) -> tuple[str, ...]:
    """List why there is this verdict, without what its line says already."""
    said = said_once(artifact.verdict.reasons, artifact.cells)
    return tuple(dict.fromkeys(each for reason, each in said.items() if reason not in artifact.verdict.line))


def _steps(artifact: Artifact) -> Iterator[Step]:
    """Say what to do, the worst first."""
    alike: dict[tuple[CellStatus, str], list[str]] = {}
    for cell in artifact.cells:
        if cell.status is not CellStatus.FINISHED:
            alike.setdefault((cell.status, LOST if cell.lost else AFTER_STATUS[cell.status]), []).append(name(cell))
    for (status, todo), some in alike.items():
        yield Step(what=f"{', '.join(some)} {status}", todo=todo)
    for label in WORST_FIRST:
        if count := artifact.labels.get(label, 0):
            todo = after(label, artifact.verdict)
            yield Step(what=f"{_tests(count)} {label}", todo=todo, label=label, causes=_causes(artifact, label))
    if artifact.verdict.name is VerdictName.PARITY:
        yield Step(what="", todo=PROCEED if artifact.verdict.axes else after(Label.CONSISTENT_GREEN, artifact.verdict))


def _causes(artifact: Artifact, label: Label) -> str:
    """Count the tests of a label by their causes, the most frequent first; nothing where none has any."""
    counted = Counter(kind(each.cause) for each in artifact.tests if each.label is label)
    unknown = counted.pop("", 0)
    ordered = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    shown = [f"{count} {cause}" for cause, count in ordered[:MOST_CAUSES]]
    if rest := sum(count for _, count in ordered[MOST_CAUSES:]):
        shown.append(f"{rest} of other causes")
    if shown and unknown:
        shown.append(f"{unknown} not known")
    return f"causes: {', '.join(shown)}" if shown else ""


def _tests(count: int) -> str:
    return f"{count} test{'s' * (count != 1)}"


def _rows(artifact: Artifact) -> Iterator[Row]:
    for label, (first, second, between) in DIAGNOSES.items():
        count = artifact.labels.get(label, 0)
        yield Row(label=label, within=(first, second), between=between, count=count, todo=after(label, artifact.verdict))

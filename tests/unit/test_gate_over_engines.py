"""A whole gate over several engines, which are in memory: images on each, cells on all, and engines that are lost on the way."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from paritygate import project_images
from paritygate.config import file as config_file
from paritygate.config.file import Overrides
from paritygate.docker_engine.requests import Endpoint, EngineInfo, Tar
from paritygate.errors import EngineUnavailableError
from paritygate.gate import afterwards, flow
from paritygate.gate.afterwards import Afterwards
from paritygate.gate.request import Request, World
from paritygate.images.dependencies import find
from paritygate.images.layers import Layers
from paritygate.outcomes.artifact import Artifact, Cause
from paritygate.outcomes.words import Axis, CauseKind, ExitCode, Label, Purpose
from paritygate.repro import flow as repro_flow
from paritygate.repro.request import Wanted
from paritygate.repro.request import World as ReproWorld
from paritygate.runners.specification import Place
from paritygate.verification import derived
from paritygate.verification.items import State
from tests.support.builders import a_probe
from tests.support.fake_engine import FakeEngine, KilledError, Process
from tests.support.gate_runs import lay_out

ZONED, PLAIN = "test_a.py::test_zone", "test_a.py::test_plain"
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SETTINGS = """
engines = ["a", "b"]

[image]
base = "base:1"
install-project = false

[environments.one]
timezone = "Asia/Tokyo"

[environments.two]
timezone = "UTC"
locale = "en_US.UTF-8"
"""

Dies = Callable[[str], bool]
"""Whether an engine goes, told the cell that begins on it."""


class Away(FakeEngine):
    """An engine with an address that has the images of environments already, if it is to, and may be lost with a cell."""

    def __init__(
        self, name: str, project: Path | None = None, dies: Dies = lambda _cell: False, platform: str = "linux/amd64"
    ) -> None:
        super().__init__({Place().supervisor: self.launcher})
        self._what, self._dies = (name, platform), dies
        self.swept = 0
        if project is not None:
            base = self.keep("base:1", {}, {}, {})
            request = project_images.wanted(project, project, "", config_file.load(project).settings, {})
            layers = Layers(request=request, base=base)
            dependencies = layers.dependencies_tag(find(project, "", request.settings))
            for each in request.environments:
                self.keep(layers.environment_tag(each, dependencies), {}, {}, {})

    def _identity(self, what: str) -> str:
        return f"{self._what[0]}-{super()._identity(what)}"

    def sweep(self) -> tuple[str, ...]:
        """Count how often it is swept."""
        self.swept += 1
        return super().sweep()

    @property
    def info(self) -> EngineInfo:
        """Say what it is."""
        name, platform = self._what
        return msgspec.structs.replace(
            super().info, endpoint=Endpoint(f"memory://{name}", "the settings"), platform=platform, cpus=1
        )

    def holds(self, *, utc: bool) -> bool:
        """Say whether the first of the two tests passes: in UTC alone."""
        return utc

    def launcher(self, process: Process) -> int:
        """Run two tests, of which one may fail."""
        given = json.loads(process.read_line())
        utc = given["environment"]["TZ"] == "UTC"
        if self._dies(self.requests[-1].name):
            self.there = False
            raise KilledError
        offset = 0 if utc else 9 * 3600
        probe = a_probe(
            timezone=given["environment"]["TZ"],
            locale=given["environment"]["LC_ALL"],
            utcoffset_january=offset,
            utcoffset_july=offset,
        )
        dates = ["2026-03-01", "2026-03-01"]
        events: list[dict[str, Any]] = [
            {"e": "start", "probe": msgspec.to_builtins(probe), "dates": dates},
            {"e": "collected", "tests": [[ZONED, 0], [PLAIN, 0]]},
            {"e": "test-start", "nodeid": ZONED},
            {"e": "test", "nodeid": ZONED, "outcome": "passed" if self.holds(utc=utc) else "failed"},
            {"e": "test-start", "nodeid": PLAIN},
            {"e": "test", "nodeid": PLAIN, "outcome": "passed"},
            {"e": "finish", "exit": int(not utc)},
            {"e": "end", "why": "finished", "returncode": int(not utc), "dates": dates},
        ]
        for number, event in enumerate(events):
            process.out(json.dumps({"n": given["nonce"], "s": number, **event}).encode() + b"\n")
        return 0


@pytest.fixture
def project(tmp_path: Path) -> Path:
    tests = "import time\n\ndef test_zone():\n    assert time.tzname[0] == 'UTC'\n\ndef test_plain():\n    pass\n"
    return lay_out(tmp_path / "shop", {"test_a.py": tests, "paritygate.toml": SETTINGS})


def a_world(engines: Sequence[Away], said: list[str]) -> World:
    known = {engine.info.endpoint.url.removeprefix("memory://"): engine for engine in engines}

    def connect_to(name: str) -> Away:
        if name not in known:
            raise EngineUnavailableError(f"`{name}` does not answer", named=True)
        return known[name]

    return World(
        connect=lambda: engines[0],
        variables={"PATH": "/usr/bin:/bin"},
        version="0",
        now=lambda: NOW,
        monotonic=time.monotonic,
        sleep=lambda _seconds: None,
        say=said.append,
        watch=lambda _progress: None,
        connect_to=connect_to,
    )


def gate(project: Path, *engines: Away, said: list[str] | None = None, budget: float | None = None, **overrides: Any) -> Artifact:
    request = Request(project=project, overrides=Overrides(**overrides), explain_budget=budget)
    return flow.run(request, a_world(engines, [] if said is None else said)).artifact


def test_a_pool_shares_all_cells_and_each_engine_has_the_images(project: Path) -> None:
    first, second = Away("a", project), Away("b")
    said: list[str] = []
    found = gate(project, first, second, said=said)
    assert {each.nodeid: each.label for each in found.tests} == {ZONED: Label.COUPLING, PLAIN: Label.CONSISTENT_GREEN}
    cause = next(each.cause for each in found.tests if each.nodeid == ZONED)
    assert cause is not None
    assert cause.axes == (Axis.TIMEZONE,)
    for purpose in (Purpose.GATE, Purpose.CONFIRM, Purpose.HYBRID):
        assert {cell.engine for cell in found.cells if cell.purpose is purpose} == {"a", "b"}, purpose
    assert [(each.name, each.environments, each.lost) for each in found.engines] == [
        ("a", ("one", "two"), ""),
        ("b", ("one", "two"), ""),
    ]
    assert "carrying 2 images over to `b`" in said
    # At the start and at the end.
    assert (first.swept, second.swept) == (2, 2)
    again: list[str] = []
    gate(project, first, second, said=again)
    assert not any("carrying" in line for line in again)


def test_the_cells_of_an_engine_that_goes_are_run_on_the_other_and_the_report_says_so(project: Path) -> None:
    found = gate(project, Away("a", project), Away("b", dies=lambda cell: cell == "one-2"))
    assert {each.nodeid: each.label for each in found.tests} == {ZONED: Label.COUPLING, PLAIN: Label.CONSISTENT_GREEN}
    lost = next(each for each in found.engines if each.lost)
    assert (lost.name, lost.moved) == ("b", ("one-2",))
    assert f"the engine `b` was lost at {lost.lost}: one-2 (on `a`) started anew" in found.notes
    assert {cell.engine for cell in found.cells} == {"a"}


def test_where_every_engine_goes_there_is_no_verdict_and_what_had_ended_is_in_the_report(project: Path) -> None:
    found = gate(project, Away("a", project, lambda cell: cell == "two-1"), Away("b", dies=lambda cell: cell.startswith("two")))
    assert found.verdict.exit_code == ExitCode.NO_VERDICT
    ended = [f"{cell.env}-{cell.attempt}" for cell in found.cells if cell.status == "finished"]
    assert {"one-1", "one-2"} <= set(ended)
    assert any("no engine is left for it: lost were" in reason for reason in found.verdict.reasons), found.verdict


def test_each_environment_on_an_engine_of_its_own(project: Path) -> None:
    own = SETTINGS.replace('engines = ["a", "b"]\n', "").replace('"Asia/Tokyo"', '"Asia/Tokyo"\nengine = "b"')
    (project / "paritygate.toml").write_text(own, encoding="utf-8")
    first, second = Away("a", project), Away("b", project, platform="linux/arm64")
    said: list[str] = []
    found = gate(project, first, second, said=said)
    assert {(cell.env.partition("+")[0], cell.engine) for cell in found.cells} == {("one", "b"), ("two", "memory://a")}
    assert any("`one` on `b` (linux/arm64, 1 processors)" in note and "is no axis" in note for note in found.notes)
    assert not any("carrying" in line for line in said)
    cause = next(each.cause for each in found.tests if each.nodeid == ZONED)
    assert cause is not None
    assert cause.axes == (Axis.TIMEZONE,)


def of_causes(report: Artifact) -> tuple[State, tuple[str, ...]]:
    """Hold the causes of a report against its cells."""
    return next((each.state, each.lines) for each in derived.items(report) if each.what == "causes")


def test_what_one_engine_alone_does_is_blamed_on_no_axis_also_afterwards_and_the_report_holds(project: Path) -> None:
    class Odd(Away):
        def holds(self, *, utc: bool) -> bool:  # noqa: ARG002 - whatever the zone
            """Pass nowhere."""
            return False

    class Even(Away):
        def holds(self, *, utc: bool) -> bool:  # noqa: ARG002 - whatever the zone
            """Pass everywhere."""
            return True

    own = SETTINGS.replace('"Asia/Tokyo"', '"Asia/Tokyo"\nengine = "b"').replace('"UTC"', '"UTC"\nengine = "a"')
    (project / "paritygate.toml").write_text(own, encoding="utf-8")
    engines = Even("a", project), Odd("b", project)
    found = gate(project, *engines)
    cause = next(each.cause for each in found.tests if each.nodeid == ZONED)
    assert cause == Cause(
        kind=CauseKind.COMPUTER,
        detail="not an axis: the two computers themselves (engine `b` / engine `a`); "
        "two with one's computer fails, 2 of 2; one with two's passes, 2 of 2",
    )
    assert of_causes(found) == (State.MATCHES, ())
    axes = (Axis.TIMEZONE, Axis.LOCALE)
    blamed = Cause(kind=CauseKind.AXIS, axes=axes, ways=(axes,))
    wrong = tuple(msgspec.structs.replace(each, cause=each.cause and blamed) for each in found.tests)
    no_flip = f"`{ZONED}`: with locale and timezone alone it was passed (2), which is no flip"
    assert of_causes(msgspec.structs.replace(found, tests=wrong)) == (State.DIFFERS, (no_flip,))
    moved = tuple(msgspec.structs.replace(cell, engine="a") for cell in found.cells)
    never = f"`{ZONED}`: no cell has run it with computer alone"
    assert of_causes(msgspec.structs.replace(found, cells=moved)) == (State.DIFFERS, (never,))
    gate(project, *engines, budget=0.0)
    asked = Afterwards(report=project / "parity_report.json", project=project)
    assert afterwards.run(asked, a_world(engines, [])).artifact.tests == found.tests


def test_one_engine_that_is_given_goes_over_all_that_are_configured(project: Path) -> None:
    found = gate(project, Away("a", project), one_engine=True)
    assert ({cell.engine for cell in found.cells}, found.engines) == ({""}, ())


def test_the_engine_that_made_the_images_may_go_before_they_are_carried(project: Path) -> None:
    class Going(Away):
        def save(self, tags: tuple[str, ...]) -> Tar:
            """Go."""
            self.there = False
            return super().save(tags)

    found = gate(project, Going("a", project), Away("b", project), Away("c"), engines=("a", "b", "c"))
    assert {cell.engine for cell in found.cells} == {each.name for each in found.engines} == {"b", "c"}
    assert "the engine `a` was left out: the engine could not send images: connection refused" in found.notes


def test_causes_are_looked_for_afterwards_on_all_engines_of_the_report_that_are_left(project: Path) -> None:
    engines = Away("a", project), Away("b")
    before = gate(project, *engines, budget=0.0)
    assert {each.cause for each in before.tests} == {None}
    asked = Afterwards(report=project / "parity_report.json", project=project)
    after = afterwards.run(asked, a_world(engines, [])).artifact
    further = {cell.engine for cell in after.cells if cell.purpose is Purpose.HYBRID}
    assert further == {"a", "b"}
    assert {each.cause.axes for each in after.tests if each.cause is not None} == {(Axis.TIMEZONE,)}
    said: list[str] = []
    gate(project, *engines, budget=0.0)
    engines[1].there = False
    left = afterwards.run(asked, a_world(engines, said)).artifact
    assert {cell.engine for cell in left.cells if cell.purpose is Purpose.HYBRID} == {"a"}
    assert any(line.startswith("warning: the engine `b` was left out: ") for line in said)


def test_a_cell_is_reproduced_on_the_engine_that_it_ran_on(project: Path) -> None:
    engines = {"a": Away("a", project), "b": Away("b")}
    found = gate(project, *engines.values(), budget=0.0)
    cell = next(each for each in found.cells if (each.env, each.attempt) == ("one", 2))
    asked: list[str] = []

    def connect_to(name: str) -> Away:
        asked.append(name)
        return engines[name]

    world = ReproWorld(
        connect=lambda: pytest.fail("another one"),
        runner_of=lambda *_: pytest.fail("no engine"),
        say=asked.append,
        watch=lambda _: None,
        connect_to=connect_to,
    )
    wanted = Wanted(report=project / "parity_report.json", project=project, nodeid=ZONED, cell="one-2")
    answer = repro_flow.run(wanted, world)
    assert (asked[0], answer.exit_code) == (cell.engine, ExitCode.PARITY)

"""Which ground a run takes: what is configured, else an engine, else this computer, and never that silently."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from paritygate.config.file import Overrides, apply
from paritygate.config.settings import EnvironmentSettings, Settings
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import ConfigError, EngineUnavailableError, RunnerError
from paritygate.gate.grounds import choosing
from paritygate.gate.grounds.choosing import Grounds
from paritygate.gate.grounds.parts import Part
from paritygate.gate.grounds.ssh import target_of
from paritygate.gate.request import World
from paritygate.gate.settled import Settled
from paritygate.host import interpreters, lacking
from paritygate.host.interpreters import Survey
from paritygate.host.lacking import Held
from paritygate.outcomes.words import Axis, RunnerChoice, RunnerName
from tests.support.fake_engine import FakeEngine

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="cells on the computer itself take Linux")


def no_engine(*, named: bool = False) -> Callable[[], Engine]:
    def connect() -> Engine:
        raise EngineUnavailableError("no Docker engine answers; tried, in this order:", named=named)

    return connect


def a_world(connect: Callable[[], Engine], folder: Path, said: list[str], **variables: str) -> World:
    return World(
        connect=connect,
        variables={"TMPDIR": str(folder), **variables},
        version="0",
        now=lambda: datetime.now(UTC),
        monotonic=lambda: 0.0,
        sleep=lambda _seconds: None,
        say=said.append,
        watch=lambda _progress: None,
    )


def settled(project: Path, settings: Settings | None = None) -> Settled:
    return Settled(
        project=project, settings=settings or Settings(), source="", notes=(), report=project / "report.json", estimate=60.0
    )


def test_without_an_engine_a_run_is_on_this_computer_and_says_so(tmp_path: Path) -> None:
    said: list[str] = []
    with choosing.found(settled(tmp_path), a_world(no_engine(), tmp_path, said)) as grounds:
        assert list(grounds.names) == ["host"]
    assert said[0].startswith("notice: no Docker engine answers, so cells run on this computer itself (`host`)")


def test_with_an_engine_a_run_is_there(tmp_path: Path) -> None:
    said: list[str] = []
    with choosing.found(settled(tmp_path), a_world(lambda: FakeEngine({}), tmp_path, said)) as grounds:
        assert list(grounds.names) == ["docker"]


@pytest.mark.parametrize(("named", "variables"), [(True, {}), (False, {"CI": "true"})])
def test_a_named_engine_has_to_answer_and_under_ci_any(tmp_path: Path, named: bool, variables: dict[str, str]) -> None:  # noqa: FBT001
    world = a_world(no_engine(named=named), tmp_path, [], **variables)
    with pytest.raises(EngineUnavailableError) as caught, choosing.found(settled(tmp_path), world):
        pass
    assert caught.value.exit_code == 4
    assert ("--runner host" in caught.value.hint) is not named


def test_under_ci_this_computer_will_do_where_it_is_asked_for(tmp_path: Path) -> None:
    wanted = settled(tmp_path, Settings(runner=RunnerChoice.HOST))
    with choosing.found(wanted, a_world(no_engine(), tmp_path, [], CI="true")) as grounds:
        assert list(grounds.names) == ["host"]


def test_the_command_line_goes_over_the_runner_of_each_environment() -> None:
    each = {"here": EnvironmentSettings(runner="ssh", target="ci@build-7")}
    applied = apply(Settings(environments=each), Overrides(runner=RunnerChoice.HOST))
    assert (applied.runner, applied.environments["here"].runner) == ("host", "")


@pytest.mark.parametrize(
    ("targets", "variable", "problem"),
    [
        (("", ""), "", "name a computer such as `user@host`"),
        (("-oProxyCommand=x", ""), "y", "`-oProxyCommand=x` is no name of a computer"),
        (("a@one", "a@two"), "", "these name several"),
    ],
)
def test_a_target_that_cannot_be_is_a_usage_error(tmp_path: Path, targets: tuple[str, str], variable: str, problem: str) -> None:
    environments = {name: EnvironmentSettings(runner="ssh", target=target) for name, target in zip("ab", targets, strict=True)}
    wanted = settled(tmp_path, Settings(environments=environments))
    with pytest.raises(ConfigError) as caught:
        target_of(wanted, {"PARITY_SSH_TARGET": variable})
    assert problem in caught.value.message


def test_the_target_is_the_environments_own_or_the_variables(tmp_path: Path) -> None:
    environments = {"a": EnvironmentSettings(runner="ssh"), "b": EnvironmentSettings(runner="ssh", target="ci@build-7")}
    wanted = settled(tmp_path, Settings(environments=environments))
    assert target_of(wanted, {"PARITY_SSH_TARGET": "ci@build-7"}) == "ci@build-7"


def test_an_interpreter_is_found_in_the_order_that_is_written_down(tmp_path: Path) -> None:
    for folder in ("mine", ".venv", "active"):
        (tmp_path / folder / "bin").mkdir(parents=True)
        (tmp_path / folder / "bin" / "python").symlink_to(sys.executable)
    active = {"VIRTUAL_ENV": str(tmp_path / "active")}
    assert interpreters.choose("mine/bin/python", tmp_path, active).python == tmp_path / "mine/bin/python"
    assert interpreters.choose("", tmp_path, active).python == tmp_path / "active/bin/python"
    assert interpreters.choose("", tmp_path, {}).python == tmp_path / ".venv/bin/python"
    assert interpreters.choose("", tmp_path / "active", {}).python == Path(sys.executable)


def test_what_a_computer_lacks_is_equal_in_all_environments() -> None:
    pair = Settings().environments
    held = lacking.locale(pair, pair, ("C.UTF-8",)) | lacking.workers(pair, ("pytest",), "python")
    held |= lacking.case(pair, "no /dev/fuse")
    assert set(held) == {Axis.LOCALE, Axis.WORKERS, Axis.CASE_SENSITIVE}
    assert "this computer has no locale `en_US.UTF-8`: generate it" in held[Axis.LOCALE].why
    assert [(each.locale, each.workers, each.case_sensitive) for each in lacking.hold(pair, held).values()] == [
        ("C.UTF-8", 0, "any"),
        ("C.UTF-8", 0, "any"),
    ]


def a_survey(locales: tuple[str, ...], zones: tuple[str, ...]) -> Survey:
    """Say of another computer that it has these, and nothing else."""
    words: dict[str, Any] = dict.fromkeys(("version", "executable", "user_base"), "")
    lists: dict[str, Any] = dict.fromkeys(("prefixes", "installed", "search_path", "mapped"), ())
    return Survey(**words, **lists, editable={}, entry_points={}, distributions={}, locales=locales, zones=zones)


def test_what_another_computer_lacks_is_equal_on_both_sides() -> None:
    pair = Settings().environments
    found = lacking.elsewhere({"server-like": pair["server-like"]}, pair, a_survey(("C.UTF-8",), ("UTC",)), "far")
    assert found == {Axis.CASE_SENSITIVE: Held("any", "no filesystem that folds case can be had on `far` over ssh")}
    assert [each.case_sensitive for each in lacking.hold(pair, found).values()] == ["any", "any"]
    sorted_here = {"local-like": EnvironmentSettings(directory_order="sorted"), "server-like": EnvironmentSettings()}
    assert set(
        lacking.elsewhere({"server-like": sorted_here["server-like"]}, sorted_here, a_survey(("C.UTF-8",), ("UTC",)), "far")
    ) == {Axis.DIRECTORY_ORDER}


def test_a_locale_or_a_zone_that_another_computer_lacks_does_not_vary() -> None:
    pair = Settings().environments
    found = lacking.elsewhere(pair, pair, a_survey(("C.UTF-8",), ("UTC",)), "far")
    assert set(found) == {Axis.CASE_SENSITIVE, Axis.LOCALE, Axis.TIMEZONE}
    assert found[Axis.LOCALE].why.startswith("`far` has no locale `en_US.UTF-8`: generate it")
    assert found[Axis.TIMEZONE].why.startswith("`far` has no time zone `Asia/Shanghai`, `Asia/Tokyo`, ")
    assert [(each.locale, each.timezone) for each in lacking.hold(pair, found).values()] == [("C.UTF-8", "UTC")] * 2
    every_zone = a_survey(("C.UTF-8", "en_US.UTF-8"), lacking.zones(pair))
    assert set(lacking.elsewhere(pair, pair, every_zone, "far")) == {Axis.CASE_SENSITIVE}


def test_one_environment_alone_whose_locale_another_computer_lacks_says_how_to_do_without() -> None:
    settings = Settings()
    alone = {"local-like": settings.environments["local-like"]}
    survey = a_survey(("C.UTF-8",), lacking.zones(settings.environments))
    with pytest.raises(RunnerError) as caught:
        lacking.elsewhere(alone, alone, survey, "far")
    assert caught.value.message == "`far` has no locale `en_US.UTF-8`"
    assert "`--without-axis locale`" in caught.value.hint
    without = apply(settings, Overrides(environments=("local-like",), without_axes=("locale",))).environments
    assert [(name, each.locale) for name, each in without.items()] == [("local-like", "C.UTF-8")]
    assert set(lacking.elsewhere(without, without, survey, "far")) == {Axis.CASE_SENSITIVE}


class Lacking:
    """A ground that lacks something, and notes what it was asked."""

    def __init__(self, name: RunnerName, found: dict[Axis, Held], asked: list[tuple[RunnerName, bool | str]]) -> None:
        self.name = name
        self._found, self._asked = found, asked

    def lacks(self, mine: lacking.Environments, every: lacking.Environments, _world: World) -> dict[Axis, Held]:
        """Say it, and note whose case it is asked about."""
        self._asked += [(self.name, each.case_sensitive) for each in mine.values()]
        return self._found if lacking.case(every, "?") else {}

    def prepare(self, *_all: object) -> Part:
        """Make nothing ready."""
        raise NotReadyError

    def tidy(self, _world: World) -> None:
        """Remove nothing."""


class NotReadyError(Exception):
    """A ground was to be made ready."""


def test_what_another_computer_cannot_vary_is_not_tried_on_this_one(tmp_path: Path) -> None:
    asked: list[tuple[RunnerName, bool | str]] = []
    held = {Axis.CASE_SENSITIVE: Held("any", "not there")}
    grounds = Grounds(
        {
            RunnerName.HOST: Lacking(RunnerName.HOST, {}, asked),
            RunnerName.SSH: Lacking(RunnerName.SSH, held, asked),
        },
        {"local-like": RunnerName.HOST, "server-like": RunnerName.SSH},
    )
    said: list[str] = []
    with pytest.raises(NotReadyError):
        grounds.prepare(settled(tmp_path), {}, a_world(no_engine(), tmp_path, said))
    assert asked == [(RunnerName.SSH, True), (RunnerName.HOST, "any")]
    assert said == ["not varied: case_sensitive: not there"]


def test_what_a_computer_has_is_not_held() -> None:
    pair = Settings().environments
    assert lacking.locale(pair, pair, ("C.UTF-8", "en_US.UTF-8")) == {}
    assert lacking.workers(pair, ("pytest", "xdist"), "python") == {}
    assert lacking.resources(pair) == {}


def test_memory_and_parts_of_processors_are_not_to_be_had() -> None:
    small = msgspec.structs.replace(EnvironmentSettings(), memory="1g", cpus=0.5)
    assert set(lacking.resources({"small": small})) == {Axis.MEMORY, Axis.CPUS}


def test_no_clock_is_moved_where_a_computer_is_shared() -> None:
    pair = {"now": EnvironmentSettings(), "then": EnvironmentSettings(clock="2028-02-29T12:00:00")}
    held = lacking.clock(pair)
    assert set(held) == {Axis.CLOCK}
    assert "use Docker" in held[Axis.CLOCK].why
    assert [each.clock for each in lacking.hold(pair, held).values()] == ["", ""]
    assert lacking.clock(Settings().environments) == {}

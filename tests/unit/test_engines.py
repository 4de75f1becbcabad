"""Which engines a run has: named for all, for one environment, out of reach, of another platform."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from paritygate.config.settings import Settings, default_environments
from paritygate.docker_engine.requests import Endpoint, EngineInfo
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import EngineError, EngineUnavailableError
from paritygate.gate.grounds import engines
from paritygate.gate.grounds.engines import Engines
from paritygate.gate.settled import Settled
from paritygate.images import carrying
from paritygate.images.carrying import Route
from tests.support.fake_engine import FakeEngine
from tests.unit.test_gate_cells import a_world

LOCAL, SERVER = "local-like", "server-like"


class At(FakeEngine):
    """An engine in memory with an address, a platform and some processors."""

    def __init__(self, name: str, platform: str = "linux/amd64", cpus: int = 4, identity: str = "") -> None:
        super().__init__()
        self._what = (name, platform, cpus)
        self._is = identity

    @property
    def info(self) -> EngineInfo:
        """Say what it is."""
        name, platform, cpus = self._what
        where = Endpoint(f"memory://{name}", "the settings")
        return msgspec.structs.replace(super().info, endpoint=where, platform=platform, cpus=cpus, identity=self._is)


def settled(*pool: str, own: Mapping[str, str] | None = None, runners: Mapping[str, str] | None = None) -> Settled:
    environments = {
        name: msgspec.structs.replace(each, engine=(own or {}).get(name, ""), runner=(runners or {}).get(name, ""))
        for name, each in default_environments().items()
    }
    return Settled(
        project=Path("/nowhere"),
        settings=Settings(engines=pool, environments=environments),
        source="",
        notes=(),
        report=Path("/nowhere/report.json"),
        estimate=1.0,
    )


def found(asked: Settled, known: Mapping[str, Engine], said: list[str] | None = None, only: str = "") -> Engines:
    def connect_to(name: str) -> Engine:
        if name not in known:
            raise EngineUnavailableError(f"`{name}` does not answer:", ("tried it",), named=True)
        return known[name]

    world = msgspec.structs.replace(a_world(said if said is not None else []), connect=lambda: known[""], connect_to=connect_to)
    return engines.find(asked, world, only, lambda _engine: None)


def served(found: Engines) -> dict[str, list[str]]:
    return {each.name: sorted(each.environments) for each in found.served}


def test_without_a_word_there_is_the_one_that_is_found() -> None:
    some = found(settled(), {"": At("usual")})
    assert (served(some), some.notes) == ({"memory://usual": [LOCAL, SERVER]}, ())


def test_a_pool_is_for_every_environment() -> None:
    some = found(settled("a", "b"), {"a": At("a"), "b": At("b")})
    assert (served(some), some.notes) == ({"a": [LOCAL, SERVER], "b": [LOCAL, SERVER]}, ())


def test_one_engine_under_two_names_counts_once_and_that_is_said() -> None:
    known = {
        "default": At("run", identity="NCFY vm"),
        "unix:///s": At("s", identity="NCFY vm"),
        "far": At("far", identity="7Q far"),
    }
    some = found(settled("default", "unix:///s", "far"), known)
    assert served(some) == {"default": [LOCAL, SERVER], "far": [LOCAL, SERVER]}
    assert some.notes == ("`default`, `unix:///s` are one engine, whose processors count once",)
    apart = found(settled(own={LOCAL: "default", SERVER: "unix:///s"}), known)
    assert (served(apart), apart.notes) == ({"default": [LOCAL, SERVER]}, some.notes)


def test_an_environment_may_have_an_engine_of_its_own_and_what_differs_is_said() -> None:
    some = found(settled(own={SERVER: "far"}), {"": At("near"), "far": At("far", "linux/arm64", 16)})
    assert served(some) == {"memory://near": [LOCAL], "far": [SERVER]}
    (note,) = some.notes
    assert note == (
        "`local-like` on `memory://near` (linux/amd64, 4 processors); `server-like` on `far` (linux/arm64, 16 processors): what "
        "differs between these engines is no axis, and a divergence may be due to it"
    )


def test_one_of_a_pool_that_does_not_answer_is_left_out_and_that_is_said() -> None:
    said: list[str] = []
    some = found(settled("a", "b"), {"b": At("b")}, said)
    assert served(some) == {"b": [LOCAL, SERVER]}
    assert some.notes == ("the engine `a` was left out: `a` does not answer: tried it",)
    assert said == [f"warning: {some.notes[0]}"]


@pytest.mark.parametrize("asked", [settled("a", "b"), settled(own={SERVER: "a"}), settled("b", own={LOCAL: "a"})])
def test_an_environment_without_any_engine_that_answers_is_an_error(asked: Settled) -> None:
    with pytest.raises(EngineUnavailableError, match="`a` does not answer"):
        found(asked, {"": At("usual")})


def test_only_the_engines_of_the_environment_that_is_run_have_to_answer() -> None:
    assert served(found(settled(own={SERVER: "far"}), {"": At("near")}, only=LOCAL)) == {"memory://near": [LOCAL]}


def test_an_environment_that_runs_elsewhere_asks_for_no_engine() -> None:
    assert served(found(settled("a", runners={LOCAL: "host"}), {"a": At("a")})) == {"a": [SERVER]}


def test_two_names_of_one_address_are_one_engine() -> None:
    assert served(found(settled("a", "also-a"), {"a": At("a"), "also-a": At("a")})) == {"a": [LOCAL, SERVER]}


def test_a_pool_has_one_platform_so_that_the_cells_of_an_environment_are_alike() -> None:
    some = found(settled("a", "b", own={LOCAL: "b"}), {"a": At("a"), "b": At("b", "linux/arm64")})
    assert served(some) == {"b": [LOCAL], "a": [SERVER]}
    assert some.notes[0] == (
        "the engine `b` is linux/arm64, and another of the pool linux/amd64: cells of one environment have to be alike, so it is "
        "left out; give it an environment of its own"
    )


def test_the_machine_has_what_a_cell_can_rely_on_everywhere() -> None:
    large, small = At("large", cpus=16).info, At("small", cpus=2).info
    both = engines.machine([large, msgspec.structs.replace(small, memory=4 << 30)])
    assert (both.cpus, both.memory) == (2, 1 << 30)
    assert (engines.machine([large]).cpus, engines.machine([large]).memory) == (16, 8 << 30)


def test_one_that_is_lost_while_images_are_made_is_left_out_unless_somebody_has_no_other() -> None:
    some = found(settled("a", "b"), {"a": At("a"), "b": At("b")})
    left = some.without(some.served[1], "it went")
    assert (served(left), left.notes) == ({"a": [LOCAL, SERVER]}, ("the engine `b` was left out: it went",))
    with pytest.raises(EngineUnavailableError, match="`local-like`, `server-like` has no other: it went"):
        left.without(left.served[0], "it went")


def test_images_are_carried_once_and_again_where_the_name_holds_other_files() -> None:
    said: list[str] = []
    here, there = At("here"), At("there")
    image = here.keep("env:1", {"kind": "env"}, {"/a": b"1"}, {})
    route = Route(here, there, "there")
    carried = carrying.carry(route, [image], said.append)
    assert (carried, there.held["env:1"].files) == ((image,), {"/a": b"1"})
    carrying.carry(route, [image], said.append)
    assert said == ["carrying 1 image over to `there`"]
    there.keep("other", {}, {}, {})
    there.keep("env:1", {}, {"/a": b"2"}, {})
    carrying.carry(route, [image], said.append)
    assert there.held["env:1"].files == {"/a": b"1"}


def test_an_image_that_does_not_arrive_is_an_engine_error() -> None:
    class Forgetful(At):
        def load(self, tar: object) -> None:
            """Forget it."""

    here = At("here")
    image = here.keep("env:1", {}, {}, {})
    with pytest.raises(EngineError, match="the engine `there` was sent `env:1`, and does not have it"):
        carrying.carry(Route(here, Forgetful("there"), "there"), [image], lambda _line: None)

"""The engines of a run: which serve which environments, and what has to be known of them all.

An engine of a pool that does not answer is left out and said; one that an environment alone has must answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from paritygate.docker_engine.requests import EngineInfo
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import EngineError, EngineUnavailableError, NoVerdictError
from paritygate.gate.grounds.parts import Machine
from paritygate.gate.request import World
from paritygate.gate.settled import Settled
from paritygate.outcomes.artifact import EngineRecord
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.words import RunnerChoice

FOUND = ""
"""What stands for the engine that nobody had to name."""
NOT_ALIKE = (
    "the engine `{name}` is {platform}, and another of the pool {other}: cells of one environment have to be alike, so it is "
    "left out; give it an environment of its own"
)


class Served(msgspec.Struct, frozen=True, kw_only=True):
    """An engine, what it is called, and the environments whose cells it runs."""

    engine: Engine
    name: str
    environments: frozenset[str]

    @property
    def record(self) -> EngineRecord:
        """Say what it is, for the artifact."""
        info = self.engine.info
        return EngineRecord(
            name=self.name,
            url=info.endpoint.url,
            version=f"{info.name} {info.version}",
            platform=info.platform,
            cpus=info.cpus,
            environments=tuple(EnvironmentName(name) for name in sorted(self.environments)),
        )


class Engines(msgspec.Struct, frozen=True, kw_only=True):
    """The engines of a run, the first of which makes what all have; `notes` says what is remarkable about them."""

    served: tuple[Served, ...]
    notes: tuple[str, ...] = ()

    @property
    def first(self) -> Engine:
        """Give the first of them."""
        return self.served[0].engine

    def without(self, gone: Served, why: str) -> Engines:
        """Leave one out; raises `EngineUnavailableError` where an environment has no other."""
        left = tuple(each for each in self.served if each is not gone)
        bereft = gone.environments - {name for each in left for name in each.environments}
        if bereft:
            message = f"the engine `{gone.name}` is lost, and {_listed(bereft)} has no other: {why}"
            raise EngineUnavailableError(message, hint="start it again, or name another one", named=True)
        return Engines(served=left, notes=(*self.notes, f"the engine `{gone.name}` was left out: {why}"))


def find(settled: Settled, world: World, only: str, greet: Callable[[Engine], None]) -> Engines:
    """Find the engines of every environment, or of `only` one, and greet each; raises `NoVerdictError` where one has none."""
    wanted = {name: names for name, names in named(settled).items() if not only or name == only}
    by_name: dict[str, Engine] = {}
    failures: dict[str, EngineUnavailableError | EngineError] = {}
    for name in dict.fromkeys(each for names in wanted.values() for each in names):
        try:
            by_name[name] = world.connect() if name == FOUND else world.connect_to(name)
        except (EngineUnavailableError, EngineError) as error:
            failures[name] = error
    for environment, names in wanted.items():
        if not any(name in by_name for name in names):
            raise _unserved(environment, [failures[name] for name in names])
    notes = [f"the engine `{name}` was left out: {' '.join(error.message.split())}" for name, error in failures.items()]
    for note in notes:
        world.say(f"warning: {note}")
    chosen, more = _chosen(wanted, by_name)
    for engine in dict.fromkeys(engine for engines in chosen.values() for engine in engines):
        greet(engine)
    served = tuple(_served(chosen, by_name))
    return Engines(served=served, notes=(*notes, *more, *_apart(served, chosen)))


def _unserved(environment: str, failures: Sequence[EngineUnavailableError | EngineError]) -> NoVerdictError:
    """Make one error of those of all engines that an environment has."""
    if len(failures) == 1:
        return failures[0]
    said = tuple(" ".join(error.message.split()) for error in failures)
    return EngineUnavailableError(f"no engine that `{environment}` may run on answers:", said, failures[0].hint, named=True)


def named(settled: Settled) -> dict[str, tuple[str, ...]]:
    """Name the engines of each environment that runs on one."""
    settings = settled.settings
    on_engines = {RunnerChoice.DOCKER, RunnerChoice.AUTO}
    return {
        name: (each.engine,) if each.engine else settings.engines or (FOUND,)
        for name, each in settings.environments.items()
        if RunnerChoice(each.runner or settings.runner) in on_engines
    }


def machine(infos: Sequence[EngineInfo]) -> Machine:
    """Describe what a cell can rely on wherever it runs: the fewest processors, and the least memory for each of them."""
    first = infos[0]
    cpus = min(info.cpus for info in infos)
    shares = [info.memory / max(1, info.cpus) for info in infos if info.memory]
    return Machine(
        name=first.name,
        version=first.version,
        platform=first.platform,
        cpus=cpus,
        memory=first.memory if len(infos) == 1 else int(min(shares, default=0) * cpus),
    )


def _chosen(
    wanted: Mapping[str, tuple[str, ...]], by_name: Mapping[str, Engine]
) -> tuple[dict[str, tuple[Engine, ...]], list[str]]:
    """Choose the engines of each environment: those that answer, each once, and of one platform, for its cells to be alike."""
    at: dict[str, Engine] = {}
    chosen: dict[str, tuple[Engine, ...]] = {}
    notes: list[str] = []
    for environment, names in wanted.items():
        mine = {name: at.setdefault(_key(by_name[name]), by_name[name]) for name in names if name in by_name}
        platform = next(iter(mine.values())).info.platform
        for name, engine in mine.items():
            if engine.info.platform != platform:
                notes.append(NOT_ALIKE.format(name=name, platform=engine.info.platform, other=platform))
        chosen[environment] = tuple(dict.fromkeys(each for each in mine.values() if each.info.platform == platform))
    return chosen, [*_same(by_name), *dict.fromkeys(notes)]


def _key(engine: Engine) -> str:
    """Say what is the same of an engine that was found under two names, so that its processors count once."""
    return engine.info.identity or engine.info.endpoint.url


def _same(by_name: Mapping[str, Engine]) -> Iterator[str]:
    """Remark names of one engine, where somebody may think that they are several."""
    names: dict[str, list[str]] = {}
    for name, engine in by_name.items():
        names.setdefault(_key(engine), []).append(f"`{name or engine.info.endpoint.url}`")
    for some in names.values():
        if len(some) > 1:
            yield f"{', '.join(some)} are one engine, whose processors count once"


def _served(chosen: Mapping[str, tuple[Engine, ...]], by_name: Mapping[str, Engine]) -> Iterator[Served]:
    for engine in dict.fromkeys(engine for engines in chosen.values() for engine in engines):
        name = next(name for name, each in by_name.items() if each is engine)
        mine = frozenset(environment for environment, engines in chosen.items() if engine in engines)
        yield Served(engine=engine, name=name or engine.info.endpoint.url, environments=mine)


def _apart(served: Sequence[Served], chosen: Mapping[str, tuple[Engine, ...]]) -> Iterator[str]:
    """Remark environments that are not on the same engines: what differs between those is no axis."""
    if len({frozenset(id(engine) for engine in engines) for engines in chosen.values()}) > 1:
        where = "; ".join(
            f"{_listed(each.environments)} on `{each.name}` ({each.engine.info.platform}, {each.engine.info.cpus} processors)"
            for each in served
        )
        yield f"{where}: what differs between these engines is no axis, and a divergence may be due to it"


def _listed(names: frozenset[str] | set[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))

"""Finds the grounds that the settings name, has them made ready, and joins them where a run has more than one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

import msgspec

from paritygate.config.settings import EnvironmentSettings
from paritygate.errors import EngineUnavailableError
from paritygate.gate.grounds.docker import DockerGround, find_engines
from paritygate.gate.grounds.host import here
from paritygate.gate.grounds.parts import Beside, Ground, Machine, Part, Trees
from paritygate.gate.grounds.ssh import there
from paritygate.gate.request import World
from paritygate.gate.settled import Settled
from paritygate.host.lacking import Environments, Held, hold
from paritygate.outcomes.artifact import CellImage, EngineRecord
from paritygate.outcomes.cells import Cell, EnvironmentName
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import Axis, RunnerChoice, RunnerName
from paritygate.runners.pool import Member, Pool
from paritygate.runners.protocol import Runner, Watch


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that cells run on. `settled` holds what really will be: an axis that a ground lacks, for one reason or more.

    `runners` says where each environment's cells run, `machine` is that of the first, `engines` are there where it has several.
    """

    settled: Settled
    pool: Pool
    machine: Machine
    runners: dict[EnvironmentName, RunnerName]
    images: dict[EnvironmentName, CellImage]
    reasons: dict[Axis, str] = {}
    notes: tuple[str, ...] = ()
    engines: tuple[EngineRecord, ...] = ()


class Grounds:
    """The grounds of a run, with the environments of each."""

    def __init__(self, by_name: Mapping[RunnerName, Ground], of: Mapping[str, RunnerName], only: str = "") -> None:
        self._only = frozenset({only} if only else ())
        self._by_name = by_name
        self._of = of

    @property
    def names(self) -> tuple[RunnerName, ...]:
        """Name them, in the order of their environments."""
        return tuple(self._by_name)

    def prepare(self, settled: Settled, trees: Trees, world: World) -> Ready:
        """Make every ground ready for the trees; what one of them cannot vary is equal on all."""
        held: dict[Axis, Held] = {}
        every: Environments = settled.every
        # What another computer cannot vary need not be tried on this one.
        for ground in sorted(self._by_name.values(), key=lambda each: each.name is not RunnerName.SSH):
            lacking = ground.lacks(
                {name: each for name, each in every.items() if self._of.get(name) is ground.name}, every, world
            )
            every = hold(every, lacking)
            held |= lacking
        for axis, each in held.items():
            world.say(_equal(axis, each) if settled.spare else f"not varied: {axis}: {each.why}")
        settled = _with(settled, {name: every[name] for name in settled.settings.environments})
        parts: dict[RunnerName, Part] = {}
        for ground in sorted(self._by_name.values(), key=lambda each: each.name is RunnerName.SSH):  # it is made like the others
            like = next(iter(parts.values()), None)
            parts[ground.name] = ground.prepare(settled, trees, world, Beside(like, self._only))
        runners = {EnvironmentName(name): runner for name, runner in self._of.items()}
        first = next(iter(parts.values()))
        return Ready(
            settled=settled,
            pool=Pool(tuple(_members(parts, runners)), world.say),
            machine=first.machine,
            runners=runners,
            images={
                name: image
                for part in parts.values()
                for name, image in part.images.items()
                if runners.get(name) is RunnerName.DOCKER
            },
            reasons={axis: each.why for axis, each in held.items()},
            notes=(
                *_apart(self._of),
                *(_equal(axis, each) for axis, each in held.items() if settled.spare and each.value),
                *(note for part in parts.values() for note in part.notes),
            ),
            engines=tuple(engine for part in parts.values() for engine in part.engines),
        )

    def tidy(self, world: World) -> None:
        """Remove what later runs will not use."""
        for ground in self._by_name.values():
            ground.tidy(world)


def _equal(axis: Axis, held: Held) -> str:
    """Say what all cells have of an axis instead of what the first environment asks for."""
    return f"{axis} is `{held.value}` in all cells: {held.why}" if held.value else f"not varied: {axis}: {held.why}"


def _apart(of: Mapping[str, RunnerName]) -> Iterator[str]:
    """Remark environments that are not on the same kind of ground."""
    if len(set(of.values())) > 1:
        where = ", ".join(f"`{name}` on {runner}" for name, runner in of.items())
        yield f"{where}: what differs between these themselves is no axis, and a divergence may be due to it"


def _members(parts: Mapping[RunnerName, Part], runners: Mapping[EnvironmentName, RunnerName]) -> Iterator[Member]:
    """Give the places on which cells run: one, however many grounds share its processors, unless one of those has several."""
    first = next(iter(parts.values()))
    if any(part.members for part in parts.values()):
        for name, part in parts.items():
            mine = frozenset(environment for environment, runner in runners.items() if runner is name)
            yield from part.members or (Member(runner=part.runner, processors=part.machine.cpus, environments=mine),)
        return
    together = first.runner if len(parts) == 1 else Spread({name: parts[each].runner for name, each in runners.items()})
    yield Member(runner=together, processors=first.machine.cpus)


class Spread:
    """A runner that has others run each cell where its environment is.

    A mixed environment, whose name begins with that of the one that it is made of, is there too.
    """

    def __init__(self, runners: Mapping[EnvironmentName, Runner]) -> None:
        self._runners = runners
        self._first = next(iter(runners.values()))

    def run(self, plan: CellPlan, watch: Watch) -> Cell:
        """Run one cell to its end."""
        base = EnvironmentName(plan.environment.name.partition("+")[0])
        return self._runners.get(base, self._first).run(plan, watch)

    def stop(self) -> None:
        """End every cell that is running."""
        for runner in dict.fromkeys(self._runners.values()):
            runner.stop()


@contextmanager
def found(settled: Settled, world: World, only: str = "") -> Iterator[Grounds]:
    """Find the ground of every environment; whatever they have made of what must not outlast the run is removed in the end.

    With `only`, that of one environment is enough; what others need that would be there holds for it all the same, as it does
    where they run. Raises `NoVerdictError` where a ground cannot be had.
    """
    with ExitStack() as stack:
        chosen: dict[RunnerChoice, Ground] = {}
        by_name: dict[RunnerName, Ground] = {}
        of: dict[str, RunnerName] = {}
        every = settled.settings.environments
        choices = {name: RunnerChoice(each.runner or settled.settings.runner) for name, each in every.items()}
        for name, asked in choices.items():
            if only and asked is not choices[only]:
                continue
            if asked not in chosen:
                chosen[asked] = _find(asked, settled, world, stack, only)
            of[name] = by_name.setdefault(chosen[asked].name, chosen[asked]).name
        yield Grounds(by_name, of, only)


def _find(asked: RunnerChoice, settled: Settled, world: World, stack: ExitStack, only: str) -> Ground:
    match asked:
        case RunnerChoice.DOCKER:
            return DockerGround(find_engines(settled, world, only))
        case RunnerChoice.HOST:
            return stack.enter_context(here(settled, world))
        case RunnerChoice.SSH:
            return stack.enter_context(there(settled, world))
        case RunnerChoice.AUTO:
            return _engine_or_host(settled, world, stack, only)


def _engine_or_host(settled: Settled, world: World, stack: ExitStack, only: str) -> Ground:
    """Take an engine, or, where there is none and nobody named one, this computer itself; never silently, and not under `CI`."""
    try:
        return DockerGround(find_engines(settled, world, only))
    except EngineUnavailableError as error:
        if error.named:
            raise
        if world.variables.get("CI"):
            hint = 'start an engine, or say that less will do: `runner = "host"` under `[tool.paritygate]`, or `--runner host`'
            raise EngineUnavailableError(error.message, hint=hint) from error
        world.say("notice: no Docker engine answers, so cells run on this computer itself (`host`), which keeps less apart")
        return stack.enter_context(here(settled, world))


def _with(settled: Settled, environments: dict[str, EnvironmentSettings]) -> Settled:
    settings = msgspec.structs.replace(settled.settings, environments=environments)
    return msgspec.structs.replace(settled, settings=settings)

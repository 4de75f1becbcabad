"""What cells are made of: the trees, what is asked of them, and the plans that follow."""

from __future__ import annotations

import msgspec

from paritygate import environments, selection
from paritygate.environments import Facts, Resolution
from paritygate.errors import NoVerdictError
from paritygate.gate.grounds.parts import Machine, Trees
from paritygate.gate.request import Request, World
from paritygate.gate.settled import Settled
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.plans import CellPlan, Environment, Filesystem, Selection
from paritygate.outcomes.words import Worktree
from paritygate.selection import Asked
from paritygate.snapshot import names, survey, tree

LONGEST_WAIT = 120.0
SHOWN = 5


class Planned(msgspec.Struct, frozen=True, kw_only=True):
    """The cells of the gate.

    `lacking` says for each environment which of the paths asked for its tree does not have, `nothing` of a tree that has none
    of them why. `shadowed` are the paths of each tree that where case does not count are those of others.
    """

    plans: tuple[CellPlan, ...]
    resolution: Resolution
    lacking: dict[EnvironmentName, tuple[str, ...]]
    nothing: dict[Worktree, str]
    shadowed: dict[Worktree, tuple[str, ...]] = {}

    def filesystem_of(self, environment: Environment) -> Filesystem | None:
        """Say which filesystem a cell of a further environment has beside those of the gate."""
        seed = next((each.filesystem.seed for each in self.plans if each.filesystem is not None), 0)
        return environments.filesystem_of(environment, self.resolution.environments, self.shadowed, seed)


def take_trees(settled: Settled, world: World) -> Trees:
    """Take every state of the working tree that an environment sees."""
    states = {each.worktree for each in settled.settings.environments.values()}
    own = (settled.report.name,) if settled.report.parent == settled.project else ()
    request = survey.Request(
        project=str(settled.project),
        environ=dict(world.variables),
        include=settled.settings.include,
        own=(*survey.OWN, *own),
    )
    trees = tree.take_all(request, sorted(states))
    for line in mismatched_names(trees):
        world.say(f"warning: {line}")
    if pairs := colliding_names(trees):
        more = f" and {len(pairs) - SHOWN} more" if len(pairs) > SHOWN else ""
        world.say(f"warning: one name where case does not count: {', '.join(pairs[:SHOWN])}{more}")
    return trees


def mismatched_names(trees: Trees) -> tuple[str, ...]:
    """Say where git's index and the disk call a file by different names."""
    found = {
        f"`{each.tracked}` in git is `{each.on_disk}` on disk ({each.why})": None
        for one in trees.values()
        for each in one.mismatches
        if each.why != names.COLLISION
    }
    return tuple(found)


def colliding_names(trees: Trees) -> tuple[str, ...]:
    """Say which names in git's index are one where case does not count."""
    return tuple(dict.fromkeys(pair for one in trees.values() for pair in names.collisions(one.mismatches)))


def select(settled: Settled, trees: Trees, request: Request) -> Selection:
    """Resolve what was asked for against the trees."""
    words = selection.parse(settled.settings.selection)
    asked = Asked(
        paths=words.paths,
        keyword=request.keyword or words.keyword,
        marker=request.marker or words.marker,
        arguments=(*words.arguments, *request.arguments),
    )
    chosen = selection.select(asked, tuple(trees.values()))
    return msgspec.structs.replace(chosen, exclude=settled.settings.exclude)


def plan(settled: Settled, trees: Trees, asked: Selection, machine: Machine, world: World) -> Planned:
    """Resolve the axes for this moment and plan the gate's cells, waiting first where a short wait makes the dates differ."""
    estimate = settled.estimate
    facts = facts_of(trees, machine, world, estimate)
    resolution = environments.resolve(settled.settings, facts)
    wait = min((zone.wait for zone in resolution.zones.values() if zone.wait), default=0.0)
    if 0 < wait <= LONGEST_WAIT:
        world.begin(f"waiting {wait:.0f} s: until then no time zone has another date than the server's for the whole run")
        world.sleep(wait)
        world.end_step()
        resolution = environments.resolve(settled.settings, facts_of(trees, machine, world, estimate))
    for note in resolution.notes:
        world.say(note)
    selections = {each.name: selection.for_tree(asked, trees[each.worktree]) for each in resolution.environments}
    kept = {name: chosen for name, (chosen, _) in selections.items() if chosen is not None}
    if not kept:
        raise NoVerdictError("nothing of the selection is in any tree that was to be tested", "name files that exist")
    return Planned(
        plans=environments.gate_plans(resolution.environments, settled.settings, kept, facts),
        resolution=resolution,
        lacking={name: lacking for name, (_, lacking) in selections.items() if lacking},
        nothing={
            each.worktree: f"its tree has none of {', '.join(f'`{path}`' for path in asked.paths) or 'the project'}"
            for each in resolution.environments
            if each.name not in kept
        },
        shadowed=facts.shadowed,
    )


def subject_of(trees: Trees) -> str:
    """Say what stands for what is tested: seeds that nobody gave follow from it."""
    return " ".join(sorted(one.digest for one in trees.values()))


def facts_of(trees: Trees, machine: Machine, world: World, estimate: float) -> Facts:
    """Say what settings do not: of the machine, the moment, and the trees."""
    some = next(iter(trees.values()))
    return Facts(
        cpus=machine.cpus,
        memory=machine.memory,
        now=world.now(),
        estimate_seconds=estimate,
        in_git=some.tracked,
        subject=subject_of(trees),
        shadowed={state: names.shadowed(entry.path for entry in one.entries) for state, one in trees.items()},
    )

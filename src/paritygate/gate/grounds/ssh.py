"""Another computer as the ground of cells, over ssh: what is sent there, what it is made like, what it cannot vary."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec
from packaging.utils import canonicalize_name

from paritygate.errors import ConfigError, NoVerdictError
from paritygate.gate.grounds.host import packages_of
from paritygate.gate.grounds.parts import Beside, Machine, Packages, Part, Trees
from paritygate.gate.request import World
from paritygate.gate.settled import Settled
from paritygate.host import interpreters, lacking
from paritygate.host.interpreters import Survey
from paritygate.host.lacking import Environments, Held
from paritygate.images import projects, resources
from paritygate.outcomes.words import Axis, RunnerChoice, RunnerName
from paritygate.runners.host import Interpreter
from paritygate.runners.ssh import SshRunner
from paritygate.runners.stays import Stay
from paritygate.snapshot import archive as snapshot_archive

VARIABLE = "PARITY_SSH_TARGET"
NOT_APART = (
    "on `{target}` (ssh) the system, the user and the network are that computer's own; what is installed there is made like the "
    "other environment's"
)
TARGET = re.compile(r"[^\s'\"\\$`-][^\s'\"\\$`]*")


def target_of(settled: Settled, variables: Mapping[str, str]) -> str:
    """Say which computer is meant; raises `ConfigError` where none is named, or several are."""
    targets = {
        name: each.target or variables.get(VARIABLE, "")
        for name, each in settled.settings.environments.items()
        if RunnerChoice(each.runner or settled.settings.runner) == RunnerChoice.SSH
    }
    problems = [
        f'`environments.{name}.target`: with `runner = "ssh"`, name a computer such as `user@host`, here or in `{VARIABLE}`'
        for name, target in targets.items()
        if not target
    ]
    problems += [
        f"`environments.{name}.target`: `{target}` is no name of a computer, such as `user@host`"
        for name, target in targets.items()
        if target and not TARGET.fullmatch(target)
    ]
    if len(set(targets.values())) > 1:
        problems.append("`environments`: cells run on one other computer in a run, and these name several")
    if problems:
        raise ConfigError(settled.source or "the settings", tuple(problems))
    return next(iter(targets.values()))


@contextmanager
def there(settled: Settled, world: World) -> Iterator[SshGround]:
    """Connect to the other computer and take a house there; raises `RunnerError` where that cannot be."""
    target = target_of(settled, world.variables)
    version = interpreters.version_of(settled.settings.host.python, settled.project, world.variables)
    with Stay(target, world.variables, resources.guest(), version) as stay:
        stay.say, found = world.say, stay.found
        for folder in stay.swept:
            world.say(f"removed what an earlier run left: {folder}")
        for folder in found.swept:
            world.say(f"removed what an earlier run left on `{target}`: {folder}")
        world.say(f"ssh: Python {found.version} at {found.python} on `{target}` ({found.platform})")
        yield SshGround(stay, target)


def _check_project(project: Path, packages: Packages) -> None:
    """Refuse a project that is installed here as a package among others.

    An index would be asked for it by its name, and whatever it has under that name is another thing than the tree.
    """
    name = canonicalize_name(projects.read(project).name or "")
    if name in packages.distributions and name not in packages.own:
        what = f"the project itself, `{name}`, is installed here as a package that does not lead to its tree"
        raise NoVerdictError(what, "install it with `pip install -e .`, or take it out of that environment")


class SshGround:
    """Another computer, with a stay on it."""

    name = RunnerName.SSH

    def __init__(self, stay: Stay, target: str) -> None:
        self._stay = stay
        self._target = target

    def lacks(self, mine: Environments, every: Environments, _world: World) -> Mapping[Axis, Held]:
        """Say what the other computer cannot vary, having asked it."""
        python = self._stay.found.python
        asked = {"do": "survey", "python": python, "locales": lacking.locales(every), "zones": lacking.zones(every)}
        return lacking.elsewhere(mine, every, msgspec.convert(self._stay.ask(asked), Survey), self._target)

    def prepare(self, settled: Settled, trees: Trees, world: World, beside: Beside) -> Part:
        """Send the trees, and have an environment made there with what the other part of the run has installed."""
        like, found = beside.like, self._stay.found
        packages = self._packages(settled, trees, world) if like is None or like.packages is None else like.packages()
        _check_project(settled.project, packages)
        if like is not None and (apart := interpreters.another(self._target, found.version, packages.version, bool(like.images))):
            raise apart
        for state, tree in trees.items():
            self._stay.keep(state, tree.digest, snapshot_archive.pack(tree, world.variables))
        python = self._environment(packages, world)
        some = next(iter(trees.values()))
        interpreter = Interpreter(
            python=python,
            kept=(*found.prefixes, str(Path(python).parents[1])),
            path=tuple(part for part in found.path.split(os.pathsep) if part.startswith("/")),
            roots=tuple(dict.fromkeys((*packages.roots, *interpreters.sources(some)))),
        )
        return Part(
            runner=SshRunner(self._stay, interpreter),
            machine=Machine(
                name=f"ssh {self._target}",
                version=found.release,
                platform=found.platform,
                cpus=found.cpus,
                memory=found.memory,
            ),
            notes=(NOT_APART.format(target=self._target),),
        )

    def tidy(self, world: World) -> None:
        """Leave that to the end of the context."""

    def _packages(self, settled: Settled, trees: Trees, world: World) -> Packages:
        """Say what the project has installed on this computer, where no other environment could say it."""
        chosen = interpreters.choose(settled.settings.host.python, settled.project, world.variables)
        with resources.guest_file("interpreter.py") as script:
            survey = interpreters.survey(chosen, script)
        return packages_of(survey, interpreters.for_cells(chosen, survey, tuple(trees.values()), ""))

    def _environment(self, packages: Packages, world: World) -> str:
        pinned = {name: version for name, version in packages.distributions.items() if name not in packages.own}
        own = {name: version for name, version in packages.distributions.items() if name in packages.own}
        found = self._stay.found
        offered = {name: text for name, text in sorted(packages.entry_points.items()) if name in own}
        known = msgspec.json.encode((sorted(pinned.items()), sorted(own.items()), offered, found.version, found.python))
        name = hashlib.sha256(known).hexdigest()[:16]
        world.say(f"environment on `{self._target}`: {len(pinned)} packages ({name})")
        request = {"do": "environment", "name": name, "packages": pinned, "own": own, "entry_points": offered}
        answered = self._stay.ask(request)
        return str(answered["python"])

"""This computer itself as the ground of cells, without an engine: what it offers, and what it cannot keep apart."""

from __future__ import annotations

import os
import platform
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from packaging.utils import canonicalize_name

from paritygate import case_trial
from paritygate.case_folding import WITHOUT
from paritygate.errors import NoVerdictError, RunnerError
from paritygate.gate.grounds.parts import Beside, Machine, Packages, Part, Trees
from paritygate.gate.request import World
from paritygate.gate.settled import Settled
from paritygate.host import casefs, interpreters, lacking
from paritygate.host.interpreters import Chosen, Survey
from paritygate.host.lacking import Environments, Held
from paritygate.host.quarters import Quarters
from paritygate.images import projects, resources
from paritygate.outcomes.words import Axis, CellStatus, RunnerName
from paritygate.runners.host import HostRunner, Interpreter
from paritygate.snapshot import archive as snapshot_archive

UNFIT = frozenset({CellStatus.UNUSABLE, CellStatus.ENVIRONMENT_MISMATCH, CellStatus.CRASHED})
APART = (
    "host keeps apart files, `/tmp`, variables, time zone, locale, processes and ports; the image, packages, the user and "
    "`/etc/localtime` are this computer's own, alike in all cells, and neither memory nor the number of processes has a limit"
)
TOGETHER = (
    "host keeps apart files, variables, time zone and locale; the image, packages, the user, the network, `/tmp` and "
    "`/etc/localtime` are this computer's own, for one cell after the other, since it allows no namespaces ({why})"
)


@contextmanager
def here(settled: Settled, world: World) -> Iterator[HostGround]:
    """Find the project's interpreter and a folder for cells, which is removed in the end.

    Raises `NoVerdictError` where there is no such interpreter, or cells cannot run on this system.
    """
    if not sys.platform.startswith("linux"):
        raise NoVerdictError(f"cells on this computer itself take Linux, and this is {platform.system()}", "start Docker")
    chosen = interpreters.choose(settled.settings.host.python, settled.project, world.variables)
    temporary = world.variables.get("TMPDIR", "") or tempfile.gettempdir()
    with Quarters(temporary, resources.guest()) as quarters:
        for folder in quarters.swept:
            world.say(f"removed what an earlier run left: {folder}")
        script = quarters.folder / "guest" / "interpreter.py"
        every = settled.every
        survey = interpreters.survey(chosen, script, lacking.locales(every), lacking.zones(every))
        world.say(f"host: Python {survey.version} at {chosen.python} ({chosen.why})")
        yield HostGround(quarters, chosen, survey, settled.project)


def not_installed(settled: Settled, survey: Survey, python: str) -> Iterator[str]:
    """Say of a project that can be installed that it is not."""
    project = projects.read(settled.project)
    if project.package and project.name and canonicalize_name(project.name) not in survey.distributions:
        yield (
            f"`{project.name}` is not installed for `{python}`: what it requires, its commands and its metadata are not there; "
            "install it, such as with `pip install -e .`"
        )


def packages_of(survey: Survey, interpreter: Interpreter) -> Packages:
    """Say what an interpreter has installed, and what of it is the project itself."""
    own = frozenset(re.sub(r"[-_.]+", "-", name).lower() for name in survey.editable)
    return Packages(
        version=survey.version,
        distributions=survey.distributions,
        own=own,
        roots=interpreter.roots,
        entry_points=survey.entry_points,
    )


class HostGround:
    """This computer, with an interpreter that works."""

    name = RunnerName.HOST

    def __init__(self, quarters: Quarters, chosen: Chosen, survey: Survey, project: Path) -> None:
        self._project = project.resolve()
        self._quarters = quarters
        self._chosen = chosen
        self._survey = survey

    def lacks(self, mine: Environments, every: Environments, world: World) -> Mapping[Axis, Held]:
        """Say what this computer cannot vary; a filesystem is tried."""
        held = lacking.locale(mine, every, self._survey.locales) | lacking.zone(mine, every, self._survey.zones)
        if not set(self._survey.locales).intersection(lacking.locales(every)):
            world.say(f"warning: {lacking.no_locale(lacking.locales(mine))}")
        # What another computer has installed is made like what this one has.
        held |= lacking.workers(every, self._survey.installed, str(self._chosen.python))
        held |= lacking.resources(mine)
        held |= lacking.clock(every)
        # Whoever folds case, here or elsewhere, now or in another job: the others are on the same filesystem.
        if lacking.case(every, "") and (obstacle := self._obstacle_to_filesystems(world)):
            held |= lacking.case(every, obstacle)
        return held

    def prepare(self, settled: Settled, trees: Trees, world: World, beside: Beside) -> Part:  # noqa: ARG002
        """Keep the trees for the cells to come."""
        for state, tree in trees.items():
            self._quarters.keep(state, tree.digest, snapshot_archive.pack(tree, world.variables))
        path = world.variables.get("PATH", os.defpath)
        interpreter = interpreters.for_cells(self._chosen, self._survey, tuple(trees.values()), path)
        packages = packages_of(self._survey, interpreter)
        notes = [
            TOGETHER.format(why=self._quarters.obstacle) if self._quarters.obstacle else APART,
            *not_installed(settled, self._survey, str(self._chosen.python)),
        ]
        if settled.settings.network and not self._quarters.obstacle:
            notes.append("with `network = true` ports are those of this computer, so cells ran one by one")
        return Part(
            runner=HostRunner(self._quarters.berth, interpreter),
            machine=Machine(
                name="host",
                version=platform.release(),
                platform=f"linux/{platform.machine()}",
                cpus=len(os.sched_getaffinity(0)),
                memory=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            ),
            notes=tuple(notes),
            packages=lambda: packages,
        )

    def tidy(self, world: World) -> None:
        """Leave that to the end of the context."""

    def _obstacle_to_filesystems(self, world: World) -> str:
        """Say why cells cannot have a filesystem of their own here, empty where they can."""
        if self._quarters.obstacle:
            return f"no filesystem that folds case can be mounted here: {self._quarters.obstacle}; to do without, {WITHOUT}"
        try:
            self._quarters.have_daemon(casefs.program(world.variables))
        except RunnerError as error:
            return error.message
        plan = case_trial.a_plan()
        with self._quarters.empty(plan.environment.worktree):
            folders = (*self._survey.prefixes, *self._survey.search_path)
            interpreter = Interpreter(python=str(self._chosen.python), kept=interpreters.kept(folders, self._project))
            cell = HostRunner(self._quarters.berth, interpreter).run(plan, lambda _progress: None)
        if cell.filesystem is not None and cell.status not in UNFIT:
            return ""
        return f"no filesystem that folds case can be mounted here: {cell.detail}; to do without, {WITHOUT}"

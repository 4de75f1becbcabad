"""What this computer has for a gate beside an engine: room on disks, an ssh that reaches where it is to, cells of its own.

Each is a few lines: a label, what there is, and below it what to do where that is not enough.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from paritygate.config.settings import Settings
from paritygate.docker_engine.requests import EngineInfo
from paritygate.errors import ParityError
from paritygate.guest import lodging
from paritygate.host import interpreters, lacking
from paritygate.images import resources
from paritygate.outcomes.words import Axis, RunnerChoice
from paritygate.runners.connections import Connection
from paritygate.runners.houses import House

GIGABYTE = 1 << 30
FOR_IMAGES = 4 * GIGABYTE
"""A base, a dependency layer of some size, and a few trees."""
FOR_CELLS = 1 * GIGABYTE
TARGET = "PARITY_SSH_TARGET"


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """What there is of one thing; `notes` say what it lacks, `hints` what to do, and `well` whether a run can do with it."""

    label: str
    said: str
    notes: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    well: bool = True


def rows(settings: Settings, project: Path, variables: Mapping[str, str], info: EngineInfo | None) -> Iterator[Row]:
    """Look at everything but the engine itself; `info` is what that says of itself, where there is one."""
    if info is not None:
        yield from _disk("images", info.root if info.endpoint.url.startswith("unix://") else "", FOR_IMAGES)
    yield from _disk("temporary", variables.get("TMPDIR", "") or tempfile.gettempdir(), FOR_CELLS)
    yield _host(settings, project, variables)
    yield _ssh(settings, project, variables)


def _disk(label: str, place: str, enough: int) -> Iterator[Row]:
    """Say how much room there is; nothing of a place that cannot be looked at, such as another computer's."""
    try:
        free = shutil.disk_usage(place).free if place else None
    except OSError:
        free = None
    if free is None:
        return
    said = f"{free / GIGABYTE:.1f} GiB free in `{place}`"
    if free >= enough:
        yield Row(label=label, said=said)
    elif label == "images":
        yield Row(label=label, said=f"{said}, which may be too little", hints=("`paritygate images prune` makes room",))
    else:
        yield Row(label=label, said=f"{said}, which may be too little", hints=("make room, or set `TMPDIR`",))


def _host(settings: Settings, project: Path, variables: Mapping[str, str]) -> Row:
    """Say what cells of this computer itself would have, which need no engine, and which axes they could not vary."""
    if not sys.platform.startswith("linux"):
        return Row(label="without engine", said="no cells: they take Linux", well=False)
    every = settings.environments
    try:
        chosen = interpreters.choose(settings.host.python, project, variables)
        with resources.guest_file("interpreter.py") as script:
            survey = interpreters.survey(chosen, script, lacking.locales(every), lacking.zones(every))
    except ParityError as error:
        return Row(
            label="without engine", said=f"no cells: {error.message}", hints=(error.hint,) if error.hint else (), well=False
        )
    held = lacking.locale(every, every, survey.locales) | lacking.zone(every, every, survey.zones)
    held |= lacking.workers(every, survey.installed, str(chosen.python))
    obstacle = _obstacle_to_filesystems(every)
    held |= lacking.case(every, obstacle) if obstacle else {}
    return Row(
        label="without engine",
        said=f"cells on this computer itself, by Python {survey.version} at {chosen.python} ({chosen.why})",
        notes=tuple(f"{axis} could not vary: {each.why}" for axis, each in held.items() if axis in Axis),
    )


def _failed(label: str, said: str, hint: str) -> Row:
    return Row(label=label, said=said, hints=(hint,) if hint else (), well=False)


def _obstacle_to_filesystems(environments: lacking.Environments) -> str:
    """Say what plainly keeps cells of this computer from filesystems of their own; empty where a run would have to try."""
    if not lacking.case(environments, "?"):
        return ""
    if not Path("/dev/fuse").exists():
        return "`/dev/fuse` is not there: run `modprobe fuse`, as root"
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        return "`/dev/fuse` may not be opened by this user"
    if shutil.which("cc") is None:
        return "there is no C compiler to build its daemon with: install `gcc` and the headers of libfuse 3 (`libfuse3-dev`)"
    return lodging.obstacle_to_namespaces(str(Path(lodging.__file__).parent))


def _ssh(settings: Settings, project: Path, variables: Mapping[str, str]) -> Row:
    """Try to reach the other computer, without asking for anything, where an environment runs there."""
    version = _version_of_ssh(variables)
    targets = {
        each.target or variables.get(TARGET, "")
        for each in settings.environments.values()
        if RunnerChoice(each.runner or settings.runner) is RunnerChoice.SSH
    }
    if not targets:
        return Row(label="ssh", said=f"{version or 'no client'}; no environment runs over it")
    if not version:
        return Row(
            label="ssh", said="no client, and an environment runs over it", hints=("install the OpenSSH client",), well=False
        )
    if "" in targets:
        hint = f"name it with `target` of the environment, or in `{TARGET}`"
        return _failed("ssh", f"{version}; no computer is named", hint)
    if len(targets) > 1:
        named = ", ".join(f"`{each}`" for each in sorted(targets))
        return _failed("ssh", f"{version}; several computers are named: {named}", "give all environments with `ssh` one `target`")
    try:
        return _elsewhere(version, next(iter(targets)), settings, project, variables)
    except ParityError as error:
        return _failed("ssh", error.message, error.hint)


def _elsewhere(version: str, target: str, settings: Settings, project: Path, variables: Mapping[str, str]) -> Row:
    """Look at the other computer, as a run does before its cells: its Python, and what it lacks; raises where it will not do."""
    every = settings.environments
    runners = {name: RunnerChoice(each.runner or settings.runner) for name, each in every.items()}
    nearest = interpreters.version_of(settings.host.python, project, variables)
    with Connection(target, variables) as connection, House(connection, resources.guest(), nearest) as house:
        found = house.found
        asked = {"do": "survey", "python": found.python, "locales": lacking.locales(every), "zones": lacking.zones(every)}
        known = msgspec.convert(house.ask(asked), interpreters.Survey)
    said = f"{version}; reaches `{target}` ({found.platform}, Python {found.version} at {found.python})"
    if RunnerChoice.HOST in runners.values():
        with resources.guest_file("interpreter.py") as script:
            here = interpreters.survey(interpreters.choose(settings.host.python, project, variables), script)
        if apart := interpreters.another(target, found.version, here.version, images=False):
            return _failed("ssh", f"{said}; {apart.message}", apart.hint)
    mine = {name: each for name, each in every.items() if runners[name] is RunnerChoice.SSH}
    held = lacking.elsewhere(mine, every, known, target)
    return Row(label="ssh", said=said, notes=tuple(f"{axis} could not vary: {each.why}" for axis, each in held.items()))


def _version_of_ssh(variables: Mapping[str, str]) -> str:
    program = shutil.which("ssh", path=variables.get("PATH", os.defpath))
    if program is None:
        return ""
    said = subprocess.run([program, "-V"], check=False, capture_output=True, text=True).stderr  # noqa: S603 - the user's own
    return said.partition(",")[0].strip() or "ssh"

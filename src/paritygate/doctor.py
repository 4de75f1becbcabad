"""Says what this machine offers a gate, without changing anything: what is started for a trial is removed again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from paritygate import case_trial, machine, project_images
from paritygate.case_trial import Shown
from paritygate.config import file as config_file
from paritygate.config.settings import Settings
from paritygate.docker_engine.connect import nobody_named
from paritygate.docker_engine.requests import EngineInfo
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import EngineUnavailableError, NoVerdictError
from paritygate.images import base, preparing
from paritygate.images.dependencies import find
from paritygate.machine import Row
from paritygate.outcomes.words import RunnerChoice

GIGABYTE = 1 << 30
INDENT = 15 * " "


class Report(msgspec.Struct, frozen=True):
    """What was found, as text, and whether a gate can run here as things are."""

    text: str
    usable: bool


class Needs(msgspec.Struct, frozen=True):
    """What a project asks of an engine: its settings, where its dependencies are written, and the Python `X.Y` to run on."""

    settings: Settings
    source: str
    python: str


def needs_of(project: Path) -> Needs:
    """Read what a project needs; raises `ConfigError` for bad settings."""
    settings = config_file.load(project).settings
    recipe = find(project, "", settings.image)
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    return Needs(settings, recipe.source, base.choose_python(settings.image, project, recipe.requires_python, running))


def examine(
    project: Path,
    connect: Callable[[], Engine],
    variables: Mapping[str, str],
    connect_to: Callable[[str], Engine] = nobody_named,
) -> Report:
    """Look at the engine, the base image, the project's dependencies and the axes; raises `ConfigError` for bad settings.

    `variables` are those of the process, which may say how packages are reached and what is configured; `connect_to` finds an
    engine that the settings name, of which the first that answers is looked at closely.
    """
    needs = needs_of(project)
    lines = [
        f"python         tests: {needs.python}; paritygate itself: {sys.version.split()[0]}",
        f"dependencies   {needs.source}",
    ]
    named = _named(needs.settings, variables, connect_to)
    try:
        engine = next(filter(None, named.values()), None) or connect()
    except EngineUnavailableError as error:
        found = tuple(machine.rows(needs.settings, project, variables, None))
        instead = _runs_here(needs.settings, found) and not (variables.get("CI") or error.named)
        return _without_engine(error, [*lines, *_rows(found)], instead=instead)
    present = base.look_up(engine, needs.settings.image, needs.python)
    known = (
        ", ".join(present.tags) or present.identity
        if present
        else f"none yet; `paritygate engine` finds or makes one for {needs.python}"
    )
    lines.append(f"base image     {known}")
    found = tuple(machine.rows(needs.settings, project, variables, engine.info))
    lines += _rows(found)
    case = _without_images(needs.settings) or _case(engine, project, variables)
    shown = [*_engine(engine.info), *_others(named), *lines, *_axes(engine.info, case.lines)]
    own = {each.engine for each in needs.settings.environments.values()} - {""}
    answers = all(named[name] is not None for name in own)
    return Report("\n".join(shown), usable=case.varies and answers and _well(found, needs.settings))


def _without_engine(error: EngineUnavailableError, lines: list[str], *, instead: bool) -> Report:
    """Say why there is none, and whether a run would do `instead` with this computer itself."""
    hint = [f"{INDENT}hint: {error.hint}"] if error.hint else []
    taken = [f"{INDENT}a run takes this computer itself then, which keeps less apart"] if instead else []
    return Report("\n".join([f"engine         none: {error.message}", *hint, *taken, *lines]), usable=instead)


def _runs_here(settings: Settings, rows: Iterable[Row]) -> bool:
    """Say whether every cell could do without an engine."""
    return RunnerChoice.DOCKER not in _asked(settings) and all(row.well for row in rows)


def _rows(rows: Iterable[Row]) -> list[str]:
    """Write each thing in a line, with what to do below it."""
    lines = []
    for row in rows:
        lines += [f"{row.label:<14} {row.said}", *(f"{INDENT}{each}" for each in row.notes)]
        lines += [f"{INDENT}hint: {each}" for each in row.hints]
    return lines


def _well(rows: Iterable[Row], settings: Settings) -> bool:
    """Say whether a run can do with what there is beside an engine; cells of this computer itself mostly are not needed then."""
    here = RunnerChoice.HOST in _asked(settings)
    return all(row.well for row in rows if here or row.label != "without engine")


def _asked(settings: Settings) -> set[RunnerChoice]:
    """Say on what environments are to run."""
    return {RunnerChoice(each.runner or settings.runner) for each in settings.environments.values()}


def _without_images(settings: Settings) -> Shown | None:
    """Say what becomes of case where not all cells run on an engine; None where they do."""
    asked = _asked(settings)
    if RunnerChoice.SSH in asked:
        return Shown(("not varied: no filesystem that folds case can be had over ssh",), varies=True)
    if asked == {RunnerChoice.HOST}:
        return Shown(("by this computer itself, as is said at `without engine`",), varies=True)
    return None


def _named(settings: Settings, variables: Mapping[str, str], connect_to: Callable[[str], Engine]) -> dict[str, Engine | None]:
    """Ask the engines that are named, in the settings or the variables; None for one that does not answer."""
    settings = config_file.apply(settings, config_file.overrides_from_variables(variables), "the environment")
    named: dict[str, Engine | None] = {}
    for name in (*settings.engines, *(each.engine for each in settings.environments.values() if each.engine)):
        if name not in named:
            try:
                named[name] = connect_to(name)
            except NoVerdictError:
                named[name] = None
    return named


def _others(named: Mapping[str, Engine | None]) -> list[str]:
    """Say of the engines that are named what they are."""
    return [
        f"named          {name}: {'does not answer' if engine is None else _short(engine.info)}" for name, engine in named.items()
    ]


def _short(info: EngineInfo) -> str:
    return f"{info.name} {info.version}, {info.platform}, {info.cpus} processors"


def _engine(info: EngineInfo) -> list[str]:
    rootless = ", rootless" if info.rootless else ""
    return [
        f"engine         {info.name} {info.version} (API {info.api}{rootless}) at {info.endpoint.url}, by {info.endpoint.why}",
        f"platform       {info.platform}, {info.cpus} processors, {info.memory / GIGABYTE:.1f} GiB",
    ]


def _case(engine: Engine, project: Path, variables: Mapping[str, str]) -> Shown:
    """Try whether case can vary, where the project wants it and its images are there."""
    request = project_images.configured(project, variables)
    if not request.case_folding:
        return Shown(("not varied: no environment has `case_sensitive = false` or a `directory_order`",), varies=True)
    images = preparing.look_up(engine, request)
    if images is None:
        return Shown(("not tried yet: `paritygate images build` makes the image",), varies=True)
    return case_trial.run(engine, next(iter(images.environments.values())).tags[0])


def _axes(info: EngineInfo, case: tuple[str, ...]) -> list[str]:
    overcommitted = " (more than there are processors)" if info.cpus < 2 else ""  # noqa: PLR2004 - the least that shows a race
    first, *more = case
    return [
        "axes           timezone, locale, worktree: can vary",
        f"               workers: can vary, `auto` is {max(2, info.cpus)}{overcommitted}",
        f"               case_sensitive: {first}",
        *(f"                 {line}" for line in more),
    ]

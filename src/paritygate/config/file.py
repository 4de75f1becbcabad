"""Where settings come from: a file in the project, then variables, then the command line, each over the one before.

It decides nothing that depends on the engine or the moment; `environments` does.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from paritygate.axes import locale_name, near_miss
from paritygate.config.settings import EnvironmentSettings, Settings, default_environments
from paritygate.config.tables import Problems, read_table, show
from paritygate.config.values import impossible
from paritygate.errors import ConfigError, UsageError
from paritygate.outcomes.words import Axis, RunnerChoice

OWN_FILE = "paritygate.toml"
SHARED_FILE = "pyproject.toml"
LARGEST_SEED = 2**32 - 1

_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """Settings, where they are from (empty: nothing is configured) and what is worth saying of them."""

    settings: Settings
    source: str = ""
    notes: tuple[str, ...] = ()


class Overrides(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line or the variables say over the file; empty and None leave a setting as it is.

    `environments` are those to run. `seeds` are by attempt, from the first; None where one is not given.
    `cell_timeout` is seconds; `without_axes` are the axes that are not to vary. `engines` share the cells; with `one_engine`
    it is the one that is found, whatever is configured.
    """

    selection: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    attempts: int | None = None
    seeds: tuple[int | None, ...] = ()
    cell_timeout: float | None = None
    report: str = ""
    runner: RunnerChoice | None = None
    without_axes: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    one_engine: bool = False


def load(project: Path) -> Loaded:
    """Read a project's settings; raises ConfigError with all that is wrong in them."""
    own = _parsed(project / OWN_FILE)
    shared = _shared_table(_parsed(project / SHARED_FILE))
    if own is not None and shared is not None:
        problem = f"`[tool.paritygate]` in `{SHARED_FILE}` configures the same; delete that table or this file"
        raise ConfigError(OWN_FILE, (problem,))
    if own is not None:
        return _loaded(own, OWN_FILE)
    if shared is not None:
        return _loaded(shared, f"{SHARED_FILE} [tool.paritygate]")
    return Loaded(settings=Settings())


def _loaded(table: object, source: str) -> Loaded:
    problems: Problems = []
    settings = read_table(table, Settings(), "", problems)
    problems.extend(impossible(settings))
    if problems:
        raise ConfigError(source, tuple(problems))
    spelled = {
        name: msgspec.structs.replace(each, locale=locale_name(each.locale)) for name, each in settings.environments.items()
    }
    pins = msgspec.structs.replace(settings.pins, locale=locale_name(settings.pins.locale))
    settings = msgspec.structs.replace(settings, environments=spelled, pins=pins)
    replaced = [name for name in default_environments() if name not in settings.environments]
    notes = (
        (f"not run, since other environments are configured: {', '.join(f'`{name}`' for name in replaced)}",) if replaced else ()
    )
    return Loaded(settings=settings, source=source, notes=notes)


def _parsed(path: Path) -> dict[str, object] | None:
    """Parse a TOML file; None where there is none."""
    try:
        text = path.read_bytes().decode()
        return tomllib.loads(text.replace("\r\n", "\n"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as found:
        raise ConfigError(path.name, (f"it cannot be read: {(found.strerror or str(found)).lower()}",)) from found
    except UnicodeDecodeError as found:
        line = found.object[: found.start].count(b"\n") + 1
        raise ConfigError(path.name, (f"line {line}: it is not UTF-8, which TOML has to be",)) from found
    except tomllib.TOMLDecodeError as found:
        raise ConfigError(path.name, (_syntax_problem(str(found), text),)) from found


def _syntax_problem(message: str, text: str) -> str:
    """Say a syntax error with its place first."""
    lines = text.split("\n")
    place = _PLACE.search(message)
    line, column = (int(place[1]), int(place[2])) if place else (len(lines), len(lines[-1]) + 1)
    what = _PLACE.sub("", message).removesuffix(" (at end of document)")
    return f"line {line}, column {column}: it is not TOML: {what[:1].lower()}{what[1:]}"


def _shared_table(document: dict[str, object] | None) -> object:
    """Take our table out of a `pyproject.toml`; None where it has none."""
    tools = (document or {}).get("tool")
    return tools.get("paritygate") if isinstance(tools, Mapping) else None


def overrides_from_variables(variables: Mapping[str, str]) -> Overrides:
    """Read `PARITY_SELECTION`, `PARITY_ATTEMPTS`, `PARITY_SEED_A`, `PARITY_SEED_B` and `PARITY_ENGINES`.

    An empty one is as good as none.
    """
    try:
        selection = tuple(shlex.split(variables.get("PARITY_SELECTION", "")))
    except ValueError as found:
        message = f"`PARITY_SELECTION` cannot be split into words as a shell would: {str(found).lower()}"
        raise UsageError(message, "close the quotation, or give the selection on the command line") from found
    seeds = tuple(_number(variables, name) for name in ("PARITY_SEED_A", "PARITY_SEED_B"))
    return Overrides(
        selection=selection,
        attempts=_number(variables, "PARITY_ATTEMPTS"),
        seeds=seeds if seeds != (None, None) else (),
        engines=tuple(dict.fromkeys(variables.get("PARITY_ENGINES", "").split())),
    )


def _number(variables: Mapping[str, str], name: str) -> int | None:
    text = variables.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise UsageError(f"`{name}` is {show(text)}, which is not a whole number", f"set `{name}` to a number, or unset it")
    return int(text)


def apply(settings: Settings, overrides: Overrides, source: str = "the command line") -> Settings:
    """Put overrides over settings; raises UsageError, which names the source, for what cannot be."""
    kept = settings.environments
    for name in overrides.environments:
        if name not in kept:
            raise UsageError(
                f"{source} asks for environment `{name}`{near_miss(name, frozenset(kept))}", f"there are {_listed(kept)}"
            )
    if overrides.environments:
        kept = {name: each for name, each in kept.items() if name in overrides.environments}
    if overrides.attempts is not None and overrides.attempts < 1:
        raise UsageError(f"{source} asks for {overrides.attempts} attempts", "one is the least, two can show a nondeterminism")
    if overrides.cell_timeout is not None and not 0 < overrides.cell_timeout < float("inf"):
        raise UsageError(f"{source} sets a timeout of {overrides.cell_timeout:g} seconds", "give a number greater than 0")
    if overrides.runner is not None:
        kept = {name: msgspec.structs.replace(each, runner="") for name, each in kept.items()}
    if overrides.one_engine:
        kept = {name: msgspec.structs.replace(each, engine="") for name, each in kept.items()}
    return msgspec.structs.replace(
        settings,
        selection=overrides.selection or settings.selection,
        environments=without_axes(kept, overrides.without_axes, source, kept if len(kept) > 1 else settings.environments),
        attempts=settings.attempts if overrides.attempts is None else overrides.attempts,
        seeds=_seeds(settings.seeds, overrides.seeds, source),
        cell_timeout=settings.cell_timeout if overrides.cell_timeout is None else overrides.cell_timeout,
        report=overrides.report or settings.report,
        runner=overrides.runner or settings.runner,
        engines=() if overrides.one_engine else overrides.engines or settings.engines,
    )


def without_axes(
    kept: dict[str, EnvironmentSettings], axes: Iterable[str], source: str, among: Mapping[str, EnvironmentSettings]
) -> dict[str, EnvironmentSettings]:
    """Keep axes from varying: all take the last one's value, of case whatever the engine's filesystem does, and the true time.

    The last `among` those is meant: one environment alone takes that of all that are configured.
    """
    plain = {"case_sensitive": "any", "clock": ""}
    known = frozenset(Axis).intersection(EnvironmentSettings.__struct_fields__)
    for axis in axes:
        if axis not in known:
            raise UsageError(
                f"{source} leaves out the axis `{axis}`{near_miss(axis, known)}", f"there are {_listed(sorted(known))}"
            )
        value = plain.get(axis, getattr([*among.values()][-1], axis))
        kept = {name: msgspec.structs.replace(each, **{axis: value}) for name, each in kept.items()}
    return kept


def _seeds(configured: tuple[int, ...], given: tuple[int | None, ...], source: str) -> tuple[int, ...]:
    """Put seeds over those of the file, attempt by attempt."""
    seeds = list(configured)
    for index, seed in enumerate(given):
        if seed is None:
            continue
        if not 0 <= seed <= LARGEST_SEED:
            raise UsageError(f"{source} gives seed {seed}", f"a seed is a number from 0 to {LARGEST_SEED}")
        if index > len(seeds):
            raise UsageError(
                f"{source} gives a seed for attempt {index + 1} and none for attempt {index}", "give both, or neither"
            )
        seeds[index : index + 1] = [seed]
    return tuple(seeds)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)

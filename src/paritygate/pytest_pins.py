"""Pins in a pytest process: of the whole suite, from before the first conftest to the end, or while one test runs.

`paritygate.pytest_plugin` loads it where a project asks for it. In a cell of a run the pins yield to the cell's axes, unless the
run was told to respect them; the hash seed stays the cell's, which starts the interpreter.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial

import pytest

from paritygate.config import file as config_file
from paritygate.config.settings import PinSettings
from paritygate.errors import ConfigError
from paritygate.pinning import process, restart

RECORDER = sys.modules.get("paritygate_recorder")
"""The cell's own plugin, which knows what the run was told; None outside of cells."""

YIELDS = "paritygate pins: none, they yield to the axes of this cell (`paritygate run --respect-pins` keeps them)"
PINS = pytest.StashKey[PinSettings]()
NOT_IN_FORCE = pytest.StashKey[list[str]]()


def pin_suite(config: pytest.Config, arguments: list[str]) -> None:
    """Pin this process to its end, and where that needs a new interpreter start pytest anew; in a cell as the run was told."""
    if _yields(config):
        return
    pins = _read(config)
    wanted = process.variables(pins)
    leaving = (process.HASH_SEED,) if RECORDER is not None else ()
    why = "" if leaving else restart.pin_hash_seed(wanted, arguments)
    config.add_cleanup(partial(process.restore, process.pin(pins, *leaving)))
    config.stash[PINS] = pins
    missing = "the cell's own seed is" if leaving else why
    config.stash[NOT_IN_FORCE] = [f"{process.HASH_SEED}={wanted[process.HASH_SEED]}: {missing}"] if missing else []


@contextmanager
def pinned(config: pytest.Config) -> Iterator[Mapping[str, str]]:
    """Pin this process for a while; a hash seed is then what programs get that are started meanwhile."""
    if _yields(config):
        yield {}
        return
    pins = _read(config)
    leaving = (process.HASH_SEED,) if RECORDER is not None else ()
    before = process.pin(pins, *leaving)
    try:
        yield {name: value for name, value in process.variables(pins).items() if value is not None and name not in leaving}
    finally:
        process.restore(before)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Pin a cell's worker, which knows only now what the run was told, and give pytest-randomly a seed that nobody gave it."""
    if PINS not in config.stash and _is_asked_for_all(config):
        pin_suite(config, [])
    if PINS in config.stash and getattr(config.option, "randomly_seed", None) == "default":
        config.option.randomly_seed = config.stash[PINS].random_seed


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Seed random numbers before each test, so that none depends on those before it; pytest-randomly, if there, does so after."""
    if PINS in item.config.stash:
        process.seed(item.config.stash[PINS])


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say what is pinned, and what is not in force and why."""
    if PINS not in config.stash:
        return [YIELDS] if _is_asked_for_all(config) and _yields(config) else []
    pins = config.stash[PINS]
    off = [*process.amiss(pins), *_of_this_interpreter(config)]
    words = [f"{name}={value}" for name, value in process.variables(pins).items() if value is not None]
    words.append(f"random seed {pins.random_seed}")
    if getattr(config.option, "randomly_seed", pins.random_seed) != pins.random_seed:
        off.append(f"{words[-1]}: `--randomly-seed` goes over it")
    named = {each.partition(":")[0] for each in off}
    shown = " ".join(each for each in words if each not in named)
    return [f"paritygate pins: {shown}", *(f"paritygate pin not in force: {each}" for each in off)]


def _of_this_interpreter(config: pytest.Config) -> list[str]:
    """Say what is not in force here; pytest-xdist's own workers start with the variables, and run the tests."""
    elsewhere = getattr(config.option, "tx", None) or []
    started = getattr(config.option, "dist", "no") != "no" and all(str(each).startswith("popen") for each in elsewhere)
    return [] if started and RECORDER is None else config.stash[NOT_IN_FORCE]


def _is_asked_for_all(config: pytest.Config) -> bool:
    return bool(config.getoption("parity_pin") or config.getini("parity_pin"))


def _yields(config: pytest.Config) -> bool:
    """Say whether this is a cell of a run that was not told to respect pins."""
    return RECORDER is not None and not RECORDER.respects_pins(config)


def _read(config: pytest.Config) -> PinSettings:
    """Read the table of the project that pytest has found."""
    try:
        return config_file.load(config.rootpath).settings.pins
    except ConfigError as found:
        raise pytest.UsageError(str(found)) from found

"""The pytest command for a machine where nothing else may run: what a cell would set, and output that tells all there is."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import msgspec

from paritygate import environments
from paritygate.environments import Facts
from paritygate.gate import material
from paritygate.gate.one_cell import Wanted, with_attempts
from paritygate.gate.request import Request, World
from paritygate.gate.settled import Settled, settle
from paritygate.ingest.making import SEEDS, suite_name
from paritygate.ingest.measuring import name_with_measurement
from paritygate.outcomes.plans import Environment, Selection

EXCLUDE = "parity_exclude"
OTHER_OUTPUT = ("sugar", "pretty", "instafail")
"""Plugins that write their own output instead of pytest's; to leave one out that is not there is no error."""


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """The command as one line, what its cell is to be called, and what to know of it."""

    line: str
    env: str
    attempt: int
    seed: int
    xml: str
    notes: tuple[str, ...] = ()


def command(request: Request, wanted: Wanted, world: World, *, plain: bool = False) -> Command:
    """Write the command of a cell; `plain` does without pytest-randomly and pytest-xdist, where these are not installed."""
    settled = with_attempts(settle(request, world), wanted)
    trees = material.take_trees(settled, world)
    asked = material.select(settled, trees, request)
    subject = material.subject_of(trees)
    facts = Facts(cpus=1, memory=0, now=wanted.at or world.now(), estimate_seconds=settled.estimate, subject=subject)
    resolution = environments.resolve(settled.settings, facts)
    environment = next(each for each in resolution.environments if each.name == wanted.env)
    seed = environments.seed_of(settled.settings, subject, wanted.attempt)
    secret = environments.secret_variables(environment)
    xml = f"{wanted.env}-{wanted.attempt}.xml"
    variables = _variables(environment, seed)
    before = (
        *("env", *(f"{name}={value}" for name, value in variables.items() if name not in secret)),
        *("python", "-m", "pytest"),
        *(() if plain else _plugins(settled, wanted.env, seed)),
        *("-v", "-rA", "--color=no", "-o", "console_output_style=progress"),
        *(word for name in OTHER_OUTPUT for word in ("-p", f"no:{name}")),
        *("--maxfail=0", "--continue-on-collection-errors"),
        *(f"--junitxml={xml}", "-o", "junit_family=xunit1"),
    )
    named = name_with_measurement(f"{suite_name(wanted.env, wanted.attempt)};seed={seed % SEEDS}", variables)
    notes = tuple(f"the value of `{name}` sounds secret and is not in it: set it there" for name in secret)
    line = f"{shlex.join(before)} {named} {shlex.join(_selected(asked))}"
    return Command(line=line, env=wanted.env, attempt=wanted.attempt, seed=seed, xml=xml, notes=(*resolution.notes, *notes))


def _variables(environment: Environment, seed: int) -> dict[str, str]:
    return {
        "TZ": environment.timezone,
        "LANG": environment.locale,
        "LC_ALL": environment.locale,
        "PYTHONHASHSEED": str(seed % SEEDS),
        **environment.variables,
    }


def _plugins(settled: Settled, env: str, seed: int) -> Iterator[str]:
    workers = settled.settings.environments[env].workers
    yield from ("-p", "randomly", f"--randomly-seed={seed % SEEDS}")
    if workers:
        yield from ("-p", "xdist", "-n", str(workers), "--dist=loadfile")


def _selected(asked: Selection) -> Iterator[str]:
    if asked.keyword:
        yield from ("-k", asked.keyword)
    marker = " and ".join(
        (*((f"({asked.marker})",) if asked.marker else ()), *(f"not {name}" for name in (EXCLUDE, *asked.exclude)))
    )
    yield from ("-m", marker)
    yield from asked.arguments
    yield from asked.paths

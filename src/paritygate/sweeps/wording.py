"""Rules in words: "fails west of UTC (4 of 4 zones), passes elsewhere"."""

from __future__ import annotations

from collections.abc import Sequence

from paritygate.outcomes.sweeps import Clause, Rule
from paritygate.outcomes.words import Axis
from paritygate.witnesses.sampling import CONFIDENCE, hidden

MOST_VALUES = 6
MOST_OTHERS = 2

NOUNS = {
    Axis.TIMEZONE: ("in", "zone"),
    Axis.LOCALE: ("in", "locale"),
    Axis.HASH_SEED: ("under hash seed", "seed"),
    Axis.WORKERS: ("with workers", "number of workers"),
    Axis.CLOCK: ("at", "moment"),
    Axis.DIRECTORY_ORDER: ("with folders", "order"),
    Axis.UMASK: ("under umask", "umask"),
    Axis.CPUS: ("with processors", "number of processors"),
    Axis.MEMORY: ("with memory", "amount"),
    Axis.VARIABLES: ("with variables", "set of variables"),
    Axis.USER: ("as", "user"),
}


def text_of(rule: Rule, axis: Axis) -> str:
    """Say a rule in one line."""
    said = [_clause(each, axis) for each in rule.clauses]
    said.append(f"{rule.elsewhere.does} elsewhere ({rule.others})")
    unknown = f"; not known {NOUNS[axis][0]} {listed(rule.unknown)}" if rule.unknown else ""
    return ", ".join(said) + unknown


def _clause(clause: Clause, axis: Axis) -> str:
    count = len(clause.values)
    if not clause.words:
        return f"{clause.outcome.does} {NOUNS[axis][0]} {listed(clause.values)}"
    more = len(clause.also) - MOST_OTHERS
    others = f"{', '.join(clause.also[:MOST_OTHERS])}{f' and {more} more' if more > 0 else ''}"
    also = f"; as well: {others}" if clause.also else ""
    return f"{clause.outcome.does} {clause.words} ({count} of {count} {_plural(NOUNS[axis][1])}{also})"


def listed(values: Sequence[str]) -> str:
    """Name values, the first few where there are many."""
    shown = ", ".join(f"`{value}`" for value in values[:MOST_VALUES])
    more = len(values) - MOST_VALUES
    return f"{shown} and {more} more" if more > 0 else shown


def _plural(noun: str) -> str:
    first, of, rest = noun.partition(" of ")
    return f"{first}{'es' if first.endswith('x') else 's'}{of}{rest}"


def bound(tried: int) -> str:
    """Say what could still hide after so many hash seeds."""
    one_in = hidden(tried)
    sure = f"{CONFIDENCE:.0%}".replace("%", " %")
    seeds = f"{tried} hash seed{'s' * (tried != 1)}"
    if one_in < 1:
        return "no hash seed was tried"
    return f"{seeds}: a fault that shows under 1 seed of {one_in} would have been seen with {sure}; what is rarer may still hide"

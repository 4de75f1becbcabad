"""Orders of operations that should commute: the same ones on every machine, in every process, under every Python.

They depend on the number of operations and the seeds alone; no global generator is read or seeded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from itertools import permutations
from typing import TypeVar

Item = TypeVar("Item")
State = TypeVar("State")

SEEDS = range(20)
"""How many shuffles there are where nobody says."""
ALL_OF = 3
"""Up to so many items every order is tried: there are no more than shuffles would find."""
MANY = 2
"""Fewer operations have nothing to commute with."""


def orders(items: Iterable[Item], seeds: Iterable[int] = SEEDS) -> tuple[tuple[Item, ...], ...]:
    """List orders of items: as given, reversed, then one for each seed, none of them twice.

    Of three items or fewer all orders come, whatever the seeds.
    """
    given = tuple(items)
    places = tuple(range(len(given)))
    chosen: Iterable[tuple[int, ...]]
    if len(given) <= ALL_OF:
        chosen = permutations(places)
    else:
        chosen = [places, places[::-1], *(tuple(sorted(places, key=lambda place: _rank(seed, place))) for seed in seeds)]
    return tuple(tuple(given[place] for place in order) for order in dict.fromkeys(chosen))


def _rank(seed: int, place: int) -> bytes:
    """Say where a place comes in the order of a seed; `random` does not promise the same shuffle to later versions."""
    return hashlib.blake2b(f"{seed} {place}".encode(), digest_size=16).digest()


def assert_commute(
    operations: Sequence[Callable[[State], object]],
    start: Callable[[], State],
    see: Callable[[State], object],
    seeds: Iterable[int] = SEEDS,
) -> None:
    """Assert that operations leave the same behind in whatever order they are done.

    Each order begins with a fresh `start()`; `see` says what counts of a state, such as a balance or a sorted list. The
    message names the order that parts from the one given. Fewer than two operations are a `ValueError`.
    """
    if len(operations) < MANY:
        raise ValueError(f"{len(operations)} operations have one order only; give two or more that should commute")
    expected: object = None
    for number, order in enumerate(orders(range(len(operations)), seeds)):
        state = start()
        for place in order:
            operations[place](state)
        seen = see(state)
        if number == 0:
            expected = seen
        elif seen != expected:
            names = ", ".join(_name(operations[place], place) for place in order)
            raise AssertionError(f"the order matters: as given {expected!r}, but {seen!r} in the order {names}")


def _name(operation: Callable[[State], object], place: int) -> str:
    name = getattr(operation, "__name__", "")
    return f"#{place}" if name in {"", "<lambda>"} else f"{name} (#{place})"

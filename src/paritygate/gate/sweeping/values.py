"""From the names of axes and the words of whoever asks to the environments of a sweep; nothing is run yet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar

import msgspec

from paritygate.axes import near_miss
from paritygate.errors import UsageError
from paritygate.gate.grounds.parts import Machine
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.plans import Environment
from paritygate.outcomes.sweeps import Sweep, SweptValue
from paritygate.outcomes.words import Axis
from paritygate.witnesses.table import WITNESSES, Witness
from paritygate.witnesses.values import check, with_value, written

Read = TypeVar("Read")
LONGEST = 36
SIGNED = re.compile(r"\+(\d)")
NO_CHANGE = "clocks never change in the zone of the first environment, as far as this computer knows"
HINT = "`paritygate sweep AXIS --plan` lists values of an axis as they are written; several are parted by commas"


class Breadth(msgspec.Struct, frozen=True, kw_only=True):
    """All axes of a sweep with their values, and each environment once: that of the base may be one of several axes."""

    axes: tuple[Sweep, ...]
    environments: tuple[Environment, ...]

    def of(self, name: EnvironmentName) -> Environment:
        """Give an environment by its name."""
        return next(each for each in self.environments if each.name == name)


def axis_named(word: str) -> Axis:
    """Read the name of an axis that can be swept; raises `UsageError`."""
    known = {axis.value: axis for axis in WITNESSES}
    if word not in known:
        there = ", ".join(f"`{name}`" for name in known)
        raise UsageError(f"`{word}` is no axis that can be swept{near_miss(word, frozenset(known))}", f"there are {there}")
    return known[word]


def chosen(axis: Axis, values: Sequence[str]) -> tuple[Witness, ...]:
    """Take the values that are named, else the table's; one of the table's keeps its reason. Raises `UsageError`."""
    for value in values:
        _refusing(axis, partial(check, axis, value))
    if len(set(values)) == 1:
        raise _nothing_to_compare(axis, values[0])
    known = {each.value: each for each in WITNESSES[axis]}
    return tuple(known.get(value, Witness(value)) for value in dict.fromkeys(values)) if values else WITNESSES[axis]


def spread(base: Environment, asked: Mapping[Axis, Sequence[Witness]], machine: Machine) -> Breadth:
    """Make an environment of every value, named by it, the base as well. Raises `UsageError` for what is no value there.

    A value that comes to the same as one before it, as `auto` workers may, is no value of its own: two names of one thing would
    look like two observations. One that the base cannot have, as the day on which its clocks change, has no environment.
    """
    made: list[Environment] = []
    axes = []
    for axis, some in asked.items():
        values: dict[EnvironmentName, SweptValue] = {}
        for witness in some:
            if not (text := written(axis, base, witness.value)):
                absent = _name(axis, witness.value, made)
                values[absent] = SweptValue(value=witness.value, env=absent, why=witness.why, untried=NO_CHANGE)
                continue
            bare = _refusing(axis, partial(_offered, axis, base, witness.value, machine))
            named = msgspec.structs.replace(bare, name=_name(axis, text, made))
            known = next((each for each in made if msgspec.structs.replace(each, name=base.name) == bare), named)
            made += [] if known in made else [known]
            values[known.name] = _with_another_name(values.get(known.name), Witness(text, witness.why), known.name)
        axes.append(Sweep(axis=axis, values=tuple(values.values())))
    if not made:
        raise UsageError(f"no value can be tried: {NO_CHANGE}", "name others, or a zone whose clocks change")
    _check_comparable(axes)
    return Breadth(axes=tuple(axes), environments=tuple(made))


def _check_comparable(axes: Iterable[Sweep]) -> None:
    """Refuse an axis of which one value alone is left: what came to the same as another, or cannot be tried, is none."""
    for each in axes:
        left = [value for value in each.values if not value.untried]
        if len(left) == 1:
            others = "; ".join(f"`{value.value}`: {value.untried}" for value in each.values if value.untried)
            raise _nothing_to_compare(each.axis, left[0].value, others or left[0].why)


def _nothing_to_compare(axis: Axis, value: str, why: str = "") -> UsageError:
    said = f"{axis}: `{value}` alone is nothing to compare{f' ({why})' if why else ''}"
    return UsageError(said, f"name two values or more; `paritygate sweep {axis} --plan` lists those that are tried otherwise")


def _with_another_name(before: SweptValue | None, witness: Witness, env: EnvironmentName) -> SweptValue:
    if before is None:
        return SweptValue(value=witness.value, env=env, why=witness.why)
    why = "; ".join(part for part in (before.why, f"`{witness.value}` comes to the same here") if part)
    return msgspec.structs.replace(before, why=why)


def _offered(axis: Axis, base: Environment, value: str, machine: Machine) -> Environment:
    """Give the base a value that a machine can have; raises ValueError for one that is beyond it."""
    made = with_value(axis, base, value, machine.cpus)
    if axis is Axis.MEMORY and 0 < machine.memory < made.memory:
        raise ValueError(
            f"`{value}` is more memory than the {machine.memory >> 20} MiB that are there: nothing would be withheld"
        )
    return made


def _refusing(axis: Axis, read: Callable[[], Read]) -> Read:
    try:
        return read()
    except ValueError as error:
        raise UsageError(f"{axis}: {error}", HINT) from error


def _name(axis: Axis, value: str, taken: Iterable[Environment]) -> EnvironmentName:
    """Name an environment by its value: in letters that containers may have, and as no other is named."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", SIGNED.sub(r"plus\1", value)).strip("-.") or "none"
    start = f"{axis.value}-{plain}"[:LONGEST]
    known = {each.name for each in taken}
    names = (start, *(f"{start}-{number}" for number in range(2, len(known) + 3)))
    return EnvironmentName(next(name for name in names if name not in known))

"""What one test did under each condition that was tried: a mixture of axes, or an order with its seeds."""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Generic, TypeVar

import msgspec

from paritygate.outcomes.words import Outcome

SPARE = 1

Condition = TypeVar("Condition", bound=Hashable)


class Likeness(StrEnum):
    """What a test did in a cell: as in the base, as in the target, in a third way, or nothing that could be told."""

    BASE = "base"
    TARGET = "target"
    OTHER = "other"
    NOTHING = "nothing"


class Seen(msgspec.Struct, frozen=True):
    """What one test did in one cell; `otherwise` says that the outcome is that of one side, and the failure is not."""

    likeness: Likeness
    outcome: Outcome = Outcome.NOT_RUN
    otherwise: bool = False


class Views(Generic[Condition]):
    """What has been seen of one test, condition by condition, while it is being seen: `views` is filled by whoever runs cells."""

    def __init__(self, views: Mapping[Condition, Sequence[Seen]]) -> None:
        self._views = views

    def seen(self, condition: Condition) -> Sequence[Seen]:
        """List what was seen under a condition."""
        return self._views.get(condition, ())

    def told(self, condition: Condition) -> tuple[Seen, ...]:
        """List what was seen there by cells that told something."""
        return tuple(each for each in self.seen(condition) if each.likeness is not Likeness.NOTHING)

    def all(self) -> Iterable[Seen]:
        """List everything that was seen, condition by condition."""
        return (each for some in self._views.values() for each in some)

    def likeness(self, condition: Condition) -> Likeness | None:
        """Say what a test does under a condition; None where its results are contrary."""
        likenesses = {each.likeness for each in self.told(condition)}
        if len(likenesses) > 1:
            return None
        return likenesses.pop() if likenesses else Likeness.NOTHING

    def like(self, conditions: Iterable[Condition], likeness: Likeness) -> tuple[Condition, ...]:
        """Choose the conditions under which the test did this."""
        return tuple(each for each in conditions if self.likeness(each) is likeness)

    def unstable(self) -> tuple[Condition, ...]:
        """List the conditions with contrary results."""
        return tuple(each for each in self._views if self.likeness(each) is None)

    def silent(self, conditions: Iterable[Condition] | None = None, times: int = 1) -> tuple[Condition, ...]:
        """List the conditions, of all that were tried or of some, of which too few cells told anything."""
        some = self._views if conditions is None else conditions
        return tuple(each for each in some if len(self.told(each)) < times)

    def need(self, conditions: Iterable[Condition], times: int) -> Generator[dict[Condition, int], None, None]:
        """Ask for so many results of each condition; a cell that tells nothing is made up for once."""
        some = tuple(dict.fromkeys(conditions))
        while wanted := {each: more for each in some if (more := self._lacking(each, times)) > 0}:
            yield wanted

    def _lacking(self, condition: Condition, times: int) -> int:
        return min(times - len(self.told(condition)), times + SPARE - len(self.seen(condition)))

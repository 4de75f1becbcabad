"""What to do about each thing that is wrong with a locked file. It mends nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from paritygate.locks.comparing import Broken, State

WAYS: Mapping[State, str] = MappingProxyType(
    {
        State.CHANGED: "look at what moved; where it is meant, `paritygate lock --write` takes it in, and the diff shows it",
        State.LINE_ENDINGS: "give the file back its line endings, or have git convert them by a `.gitattributes` that is tracked",
        State.MISSING: "restore the file; where it is meant to be gone, `paritygate lock --write` takes it out of the lock",
        State.UNREADABLE: "put a file there that can be read and lies in the tree, such as the one that git has",
        State.UNLOCKED: "`paritygate lock --write` takes it in; which files must be locked `locked` in the configuration says",
        State.UNTRACKED: "`git add` the file",
        State.IGNORED: "`git add --force` the file, or let it lie where git does not ignore it",
    }
)


def hint(broken: Iterable[Broken]) -> str:
    """Say what to do, once for each kind of fault, and for which where there are several."""
    states = list(dict.fromkeys(each.state for each in broken))
    if len(states) == 1:
        return WAYS[states[0]]
    return "; ".join(f"{state}: {WAYS[state]}" for state in states)

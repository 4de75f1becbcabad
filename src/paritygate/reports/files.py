"""Files behind a cause, in words: what each is, what the test or what it needs does with it, and what to do."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from paritygate.outcomes.artifact import Cause, FileFact
from paritygate.outcomes.words import FileState, Touching
from paritygate.reports.advice import after_file
from paritygate.reports.text import spell_out

MOST_FILES = 5


def files(*causes: Cause) -> Iterator[str]:
    """Say in a line each which files are behind a cause, or behind one that several tests have, up to a number."""
    facts: dict[str, FileFact | None] = {}
    for cause in causes:
        for path in cause.files:
            facts[path] = _both(facts.get(path), cause.file_facts.get(path))
    shown = tuple(facts.items())[:MOST_FILES]
    yield from (spell_out(_line(path, fact)) for path, fact in shown)
    if (more := len(facts) - len(shown)) > 0:
        yield f"and {more} more file{'s' * (more > 1)} in the report"


def _both(one: FileFact | None, other: FileFact | None) -> FileFact | None:
    """Put together what two tests do with a file."""
    if one is None or other is None:
        return one or other
    return msgspec.structs.replace(one, touched=tuple(dict.fromkeys((*one.touched, *other.touched))))


def tells_spellings(cause: Cause) -> bool:
    """Say whether a cause tells already by which names files were asked for."""
    return any(fact.state is FileState.SPELLED for fact in cause.file_facts.values())


def _line(path: str, fact: FileFact | None) -> str:
    if fact is None:
        return f"file: `{path}`"
    how = ", ".join("its folder is listed" if each is Touching.LISTED else each.value for each in fact.touched)
    return f"file: `{path}`{_what(fact)}{f' ({how})' if how else ''}: {after_file(path, fact.state)}"


def _what(fact: FileFact) -> str:
    match fact.state:
        case FileState.IGNORED:
            return f", ignored by git{f' ({fact.rule})' if fact.rule else ''}, is not in a fresh clone"
        case FileState.UNTRACKED:
            return ", never added to git, is not in a fresh clone"
        case FileState.RENAMED:
            return f" is `{fact.other}` in git, and so in a fresh clone"
        case FileState.NOT_ON_DISK:
            return " is in git and not in this working tree"
        case FileState.CHANGED:
            return " is not the same in a fresh clone"
        case FileState.SPELLED:
            return f" is asked for as `{fact.other}`"

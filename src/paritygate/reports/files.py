"""Files behind a cause, in words: what each is, what the test or what it needs does with it, and what to do."""

from __future__ import annotations

from collections.abc import Iterator

from paritygate.outcomes.artifact import Cause, FileFact
from paritygate.outcomes.words import FileState, Touching
from paritygate.reports.advice import AFTER_FILE
from paritygate.reports.text import spell_out

MOST_FILES = 5


def files(cause: Cause) -> Iterator[str]:
    """Say in a line each which files are behind a cause, up to a number."""
    for path in cause.files[:MOST_FILES]:
        yield spell_out(_line(path, cause.file_facts.get(path)))
    if (more := len(cause.files) - MOST_FILES) > 0:
        yield f"and {more} more file{'s' * (more > 1)} in the report"


def tells_spellings(cause: Cause) -> bool:
    """Say whether a cause tells already by which names files were asked for."""
    return any(fact.state is FileState.SPELLED for fact in cause.file_facts.values())


def _line(path: str, fact: FileFact | None) -> str:
    if fact is None:
        return f"file: `{path}`"
    how = ", ".join("its folder is listed" if each is Touching.LISTED else each.value for each in fact.touched)
    return f"file: `{path}`{_what(fact)}{f' ({how})' if how else ''}: {AFTER_FILE[fact.state]}"


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

"""The fixture lock of a project: what lies on disk and what git says of it, held against the lock, or written into it."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from paritygate.config.settings import Settings
from paritygate.disciplines import digests, records
from paritygate.disciplines.records import Place
from paritygate.errors import RefusedError, UsageError
from paritygate.locks import comparing, lock, mending, patterns
from paritygate.locks.comparing import Broken, File, Standing
from paritygate.locks.lock import Lock
from paritygate.snapshot import survey
from paritygate.snapshot.survey import Repository, Survey

LEAVE_OUT = "lock what it stands for, or name the files to be locked one by one or by a glob, such as `tests/data/*.json`"


class Shelf(msgspec.Struct, frozen=True, kw_only=True):
    """A project with its lock (None: there is none), its settings and what lies on disk.

    `files` are those that could be locked, by path from the project.
    """

    place: Place
    settings: Settings
    seen: Survey
    lock: Lock | None
    files: tuple[str, ...]

    @property
    def path(self) -> Path:
        """Say where the lock is."""
        return self.place.project / self.settings.lock


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What a lock holds and what is wrong; `converted` are files that git itself gives other line endings."""

    digests: dict[str, str] = {}
    broken: tuple[Broken, ...] = ()
    converted: tuple[str, ...] = ()


def open_shelf(place: Place, settings: Settings) -> Shelf | None:
    """Look at a project that has a lock or ought to have one; None for one that has nothing to do with locks."""
    content = records.read(place, place.from_top(settings.lock))
    if content is None and not settings.locked:
        return None
    return look(place, settings, content)


def look(place: Place, settings: Settings, content: bytes | None) -> Shelf:
    """Look at what lies on disk; `content` is the lock's."""
    request = survey.Request(project=str(place.project), environ=dict(place.variables))
    seen = survey.look(request)
    inside = f"{place.directory}/" if place.directory else ""
    own = {settings.lock, settings.freezes}
    files = [
        path.removeprefix(inside)
        for path, item in seen.disk.items.items()
        if path.startswith(inside) and item.kind in {"file", "link"}
    ]
    return Shelf(
        place=place,
        settings=settings,
        seen=seen,
        lock=None if content is None else lock.read(content),
        files=tuple(sorted(path for path in files if path not in own)),
    )


def check(shelf: Shelf) -> Checked:
    """Hold the lock against the disk; raises `RefusedError` where the lock cannot be read or is missing."""
    if shelf.lock is None:
        message = f"there is no lock `{shelf.settings.lock}`, and `locked` says what it has to hold"
        raise RefusedError(message, "`paritygate lock --write` makes it")
    refuse_faults(shelf)
    held = shelf.lock.digests
    found = {path: file_at(shelf, path) for path in held}
    return Checked(
        digests=held,
        broken=comparing.broken(held, found, unlocked(shelf, held)),
        converted=comparing.converted(held, found),
    )


def refuse_faults(shelf: Shelf) -> None:
    """Raise `RefusedError` for a lock that cannot be read."""
    faults = () if shelf.lock is None else shelf.lock.faults
    if faults:
        listed = "\n".join(f"  {fault}" for fault in faults)
        raise RefusedError(
            f"`{shelf.settings.lock}` cannot be read:\n{listed}", "take it from git again, or delete it and write it anew"
        )


def refuse_broken(shelf: Shelf, checked: Checked) -> None:
    """Raise `RefusedError` for whatever is wrong with locked files."""
    if checked.broken:
        listed = "\n".join(f"  {each.line}" for each in checked.broken)
        count = len({each.path for each in checked.broken})
        raise RefusedError(
            f"`{shelf.settings.lock}` does not hold for {count} file{'s' * (count != 1)}:\n{listed}", mending.hint(checked.broken)
        )


def unlocked(shelf: Shelf, held: Mapping[str, str]) -> tuple[str, ...]:
    """List the files that ought to be locked: those that the settings name, otherwise those beside locked ones."""
    known = {unicodedata.normalize("NFC", path) for path in held}
    wanted: dict[str, None] = {}
    for pattern in shelf.settings.locked:
        wanted.update(dict.fromkeys(patterns.chosen(pattern, shelf.files)))
    if not shelf.settings.locked:
        wanted.update(dict.fromkeys(patterns.beside(held, shelf.files)))
    return tuple(path for path in wanted if unicodedata.normalize("NFC", path) not in known)


def file_at(shelf: Shelf, path: str) -> File:
    """Look at one path: its digests, and what it is to git."""
    full = Path(shelf.seen.top, shelf.place.from_top(path))
    if link := _link_above(shelf, path):
        return File(why=f"it lies behind the link `{link}`, where git tracks nothing")
    try:
        content = digests.of(full, Path(shelf.seen.top))
    except FileNotFoundError:
        return File()
    except OSError as error:
        return File(why=error.strerror or str(error))
    repository, inside = _repository(shelf, _led_to(shelf, full))
    stored = "" if repository is None else digests.stored(repository, inside, content)
    return File(digest=content.digest, alike=content.alike, stored=stored, standing=standing(shelf, path))


def digest_to_lock(file: File) -> str:
    """Choose the digest that holds in every clone: of what git has, where git converts line endings."""
    return file.stored or file.digest


def taken_in(shelf: Shelf, asked: Sequence[str]) -> dict[str, str]:
    """Make the lock anew: what is asked for (nothing: all that is or ought to be locked), and what it held of the rest.

    Raises `UsageError` for a pattern that means nothing, `RefusedError` for what cannot be locked.
    """
    held = {} if shelf.lock is None else shelf.lock.digests
    for pattern in asked:
        if not any(patterns.covers(pattern, path) for path in (*shelf.files, *held)):
            raise UsageError(f"`{pattern}` is no file, folder or glob that finds one", "paths are relative to where you are")
    if not asked and not held and not shelf.settings.locked:
        raise UsageError("nothing is locked so far", "say what to lock: `paritygate lock --write tests/data`")
    kept = {path: digest for path, digest in held.items() if asked and not any(patterns.covers(each, path) for each in asked)}
    chosen = {path: None for pattern in asked for path in patterns.chosen(pattern, shelf.files)}
    if not asked:
        chosen = dict.fromkeys((*held, *unlocked(shelf, held)))
    return kept | _digests(shelf, chosen)


def _digests(shelf: Shelf, chosen: Mapping[str, None]) -> dict[str, str]:
    """Digest what is to be locked; raises `RefusedError` with all that cannot be."""
    files = {path: file_at(shelf, path) for path in chosen if _is_text(path)}
    wrong = {f"{os.fsencode(path)!r}": "its name is not UTF-8; rename it" for path in chosen if not _is_text(path)}
    wrong |= {f"`{path}`": file.why for path, file in files.items() if file.why}
    if len(wrong) == 1:
        raise RefusedError(f"{next(iter(wrong))} cannot be locked: {next(iter(wrong.values()))}", LEAVE_OUT)
    if wrong:
        listed = "\n".join(f"  {path}: {why}" for path, why in wrong.items())
        raise RefusedError(f"{len(wrong)} files cannot be locked:\n{listed}", LEAVE_OUT)
    return {path: digest_to_lock(file) for path, file in files.items() if file.digest}


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _link_above(shelf: Shelf, path: str) -> str:
    """Name the folder on the way to a path that is a link; empty where none is."""
    folders = [above.as_posix() for above in Path(path).parents if above.parts]
    return next((each for each in reversed(folders) if Path(shelf.seen.top, shelf.place.from_top(each)).is_symlink()), "")


def _led_to(shelf: Shelf, full: Path) -> str:
    """Say, from the tree's top, which file stands at a path: where a link lies there, the one that it leads to."""
    if not full.is_symlink():
        return full.relative_to(shelf.seen.top).as_posix()
    return Path(os.path.realpath(full)).relative_to(os.path.realpath(shelf.seen.top)).as_posix()


def _repository(shelf: Shelf, full: str) -> tuple[Repository | None, str]:
    """Find the repository that a path from the tree's top is in, the innermost one, and its path there; None without git."""
    holding = [each for each in shelf.seen.repositories if full.startswith(each.prefix)]
    if not holding:
        return None, full
    inner = max(holding, key=lambda each: len(each.prefix))
    return inner, full.removeprefix(inner.prefix)


def standing(shelf: Shelf, path: str) -> Standing:
    """Say what a path is to git, which may spell an accent in another way than the disk."""
    repository, inside = _repository(shelf, shelf.place.from_top(path))
    if repository is None:
        return Standing.NO_GIT
    tracked = repository.index.tracked
    spelled = {unicodedata.normalize("NFC", each) for each in tracked} if not inside.isascii() else tracked
    if inside in tracked or unicodedata.normalize("NFC", inside) in spelled:
        return Standing.TRACKED
    return Standing.UNTRACKED if inside in repository.index.untracked else Standing.IGNORED

"""Files that the user names: checked before hours of work, written whole, and read within bounds.

It knows nothing of what is in them.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from pathlib import Path

from paritygate.axes import near_miss
from paritygate.errors import UnrecordedError, UsageError

MOST_BYTES = 1 << 30
OURS = ".paritygate"
"""A folder of our own, which is made where it is missing."""

# Where a file cannot be replaced it may still be written: its folder belongs to somebody else, or it is mounted by itself.
NOT_REPLACEABLE = frozenset({errno.EACCES, errno.EPERM, errno.EBUSY, errno.EROFS})

KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFBLK: "a block device",
}
ELSEWHERE = "give another place with `--report PATH`"


def check(path: Path) -> None:
    """Make sure that a file can be written there, without leaving anything; raises `UsageError` where it cannot.

    A link stands for what it leads to. Of what is there already, a file is replaced and a character device is written to.
    """
    try:
        mode = _mode(path)
        if mode is None:
            _check_folder(path)
        else:
            _check_kind(path, mode)
            os.close(os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_NOCTTY", 0)))
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write `{path}`: {_why(error)}", ELSEWHERE) from error


def plain(path: Path) -> Path:
    """Say where a file is without links and dots on the way to it; it itself may be a link."""
    try:
        return Path(os.path.realpath(path.parent), path.name)
    except ValueError:
        return path  # no path at all, as `check` will say


def write(data: bytes, path: Path) -> None:
    """Write a file; what was there before stays until the new one is whole. Raises `UnrecordedError`."""
    try:
        mode = _mode(path)
        if mode is None or stat.S_ISREG(mode):
            _replace(data, Path(os.path.realpath(path)), 0o644 if mode is None else stat.S_IMODE(mode))
        else:
            _check_kind(path, mode)
            _write_in_place(data, path, 0)
    except (OSError, ValueError) as error:
        raise UnrecordedError(f"cannot write `{path}`: {_why(error)}", ELSEWHERE) from error
    except UsageError as error:
        raise UnrecordedError(error.message, error.hint) from error


def read(path: Path) -> bytes:
    """Read a file, or what comes out of a pipe; raises `UsageError` where that is more than any report can be."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1) if os.fstat(file.fileno()).st_size <= MOST_BYTES else None
    except OSError as error:
        raise UsageError(f"cannot read `{path}`: {_why(error)}") from error
    if content is None or len(content) > MOST_BYTES:
        raise UsageError(f"cannot read `{path}`: it is larger than {MOST_BYTES >> 20} MiB, which no report is")
    return content


def _mode(path: Path) -> int | None:
    """Say what is at a path, links followed; None for nothing."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _check_kind(path: Path, mode: int) -> None:
    """Refuse what is neither a file nor a character device, and a file that this process's own streams go to."""
    if (kind := KINDS.get(stat.S_IFMT(mode))) is not None:
        raise UsageError(f"cannot write `{path}`: it is {kind}, not a file", ELSEWHERE)
    if stat.S_ISREG(mode):
        for descriptor, name in ((1, "stdout"), (2, "stderr")):
            if os.path.samestat(path.stat(), os.fstat(descriptor)):
                raise UsageError(f"cannot write `{path}`: {name} goes there already", ELSEWHERE)


def _check_folder(path: Path) -> None:
    """Make sure that a new file can be made; a folder that is missing is refused, since it is likely misspelt."""
    folder = Path(os.path.realpath(path)).parent
    if OURS in folder.parts:
        folder = next(above for above in (folder, *folder.parents) if above.exists())
    if not folder.exists():
        above = next(each for each in folder.parents if each.exists())
        missing = folder.relative_to(above).parts[0]
        others = frozenset(each.name for each in above.iterdir() if each.is_dir())
        message = f"cannot write `{path}`: there is no folder `{above / missing}`{near_miss(missing, others)}"
        raise UsageError(message, f"make it first, or {ELSEWHERE}")
    with tempfile.TemporaryFile(dir=folder):
        pass


def _replace(data: bytes, path: Path, mode: int) -> None:
    if OURS in path.parts:
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        _write_beside(data, path, mode)
    except OSError as error:
        if error.errno not in NOT_REPLACEABLE or not path.exists():
            raise
        _write_in_place(data, path, os.O_TRUNC)


def _write_beside(data: bytes, path: Path, mode: int) -> None:
    """Write another file and give it the name."""
    descriptor, name = tempfile.mkstemp(prefix=".paritygate-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _write_in_place(data: bytes, path: Path, flags: int) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | getattr(os, "O_NOCTTY", 0) | flags), "wb", buffering=0) as file:
        rest = memoryview(data)
        while rest:
            rest = rest[file.write(rest) or 0 :]


def _why(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)

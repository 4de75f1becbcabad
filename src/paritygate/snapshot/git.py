"""Git, asked for facts about one working tree.

It never writes into the user's repository, fetches, prompts, pages or runs a hook, and no variable can point it elsewhere.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Self

import msgspec

from paritygate.errors import SnapshotError

# Git sets GIT_* in hooks, so a gate that runs in one would read another repository. These few only say where configuration is.
_KEPT = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES"})
# An empty `core.fsmonitor` means none to every version; `false` was a program's name before 2.36.
_SETTINGS = {"safe.directory": "*", "core.quotePath": "false", "core.fsmonitor": "", "core.hooksPath": os.devnull}
_FIXED = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "GIT_NO_LAZY_FETCH": "1",
    # Git before 2.44 does not know the line above: a partial clone cannot fetch where no protocol is allowed.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_REPLACE_OBJECTS": "1",
}
_CHUNK = 1 << 20


class Git(msgspec.Struct, frozen=True, kw_only=True):
    """The git program, the directory in which it is asked, and the whole environment that it gets."""

    program: str
    directory: str
    environ: dict[str, str]

    def within(self, directory: str) -> Git:
        """Ask in another directory."""
        return Git(program=self.program, directory=directory, environ=self.environ)


def find(directory: str, environ: Mapping[str, str]) -> Git | None:
    """Find the program on the PATH handed in; None where there is none."""
    program = shutil.which("git", path=environ.get("PATH", os.defpath))
    if program is None:
        return None
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_") or name in _KEPT}
    settings = {"GIT_CONFIG_COUNT": str(len(_SETTINGS))}
    for number, (key, value) in enumerate(_SETTINGS.items()):
        settings |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return Git(program=program, directory=directory, environ=kept | _FIXED | settings)


def attempt(git: Git, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run git and say how it ended, whatever that is."""
    try:
        return subprocess.run(  # noqa: S603 - the program is the user's git, the arguments are ours
            [git.program, *arguments], cwd=git.directory, env=git.environ, input=stdin, capture_output=True, check=False
        )
    except OSError as error:
        raise SnapshotError(f"`git` could not be run in `{git.directory}`: {error.strerror}") from error


def run(git: Git, *arguments: str, stdin: bytes = b"") -> bytes:
    """Run git and return what it printed."""
    done = attempt(git, *arguments, stdin=stdin)
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise SnapshotError(f"`git {' '.join(arguments)}` failed in `{git.directory}`: {said}")
    return done.stdout


def line(git: Git, *arguments: str) -> str:
    """Run git and return its one line, empty where it refuses."""
    done = attempt(git, *arguments)
    return os.fsdecode(done.stdout).removesuffix("\n") if done.returncode == 0 else ""


def is_in_a_tree(git: Git) -> bool:
    """Say whether its folder is in the working tree of a repository."""
    return line(git, "rev-parse", "--is-inside-work-tree") == "true"


def is_shallow(git: Git) -> bool:
    """Say whether a clone was cut off, so that it lacks commits which others have."""
    return line(git, "rev-parse", "--is-shallow-repository") == "true"


def way_together(git: Git) -> str:
    """Say what to do where two commits have none in common."""
    if is_shallow(git):
        return "this clone is shallow, and lacks it: `git fetch --unshallow`"
    return "they have no history in common: name a commit that HEAD comes from"


def records(output: bytes) -> list[str]:
    """Split NUL-terminated output; names that are not UTF-8 survive."""
    return [os.fsdecode(record) for record in output.split(b"\0")[:-1]]


def sizes(git: Git, oids: list[str], field: str = "objectsize") -> dict[str, int]:
    """Ask for the size of objects in bytes (`objectsize:disk`: as stored); objects that are not here are absent."""
    listing = "".join(f"{oid}\n" for oid in oids).encode()
    # A partial clone makes git die at the first object that it lacks: what it said until then holds.
    answer = attempt(git, "cat-file", f"--batch-check=%(objectname) %({field})", "--buffer", stdin=listing).stdout
    known = (entry.split() for entry in answer.decode("ascii", "replace").splitlines())
    return {words[0]: int(words[1]) for words in known if len(words) == 2 and words[1].isdigit()}  # noqa: PLR2004


class Blobs:
    """A reader of objects, one after another, from one git process."""

    def __init__(self, git: Git) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - as above
            [git.program, "cat-file", "--batch"],
            cwd=git.directory,
            env=git.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self) -> Self:
        """Stay with the process that is running already."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def ask(self, oid: str) -> int | None:
        """Ask for one object and return its size in bytes, None where it is not here; `content` has to follow a size."""
        if self._process.stdin is None or self._process.stdout is None:
            return None
        try:
            self._process.stdin.write(f"{oid}\n".encode())
            self._process.stdin.flush()
        except OSError:
            return None
        words = self._process.stdout.readline().split()
        return int(words[2]) if len(words) == 3 and words[2].isdigit() else None  # noqa: PLR2004

    def content(self, size: int) -> Iterator[bytes]:
        """Yield the object just asked for in pieces."""
        stream = self._process.stdout
        left = size
        while stream is not None and left > 0:
            piece = stream.read(min(left, _CHUNK))
            if not piece:
                raise SnapshotError("`git cat-file` ended in the middle of an object")
            left -= len(piece)
            yield piece
        if stream is not None:
            stream.read(1)


def absent(git: Git, commit: str) -> frozenset[str]:
    """List the objects of a commit's tree that a partial clone has not fetched."""
    if not commit or not line(git, "config", "--get-regexp", r"^remote\..*\.promisor$"):
        return frozenset()
    listing = attempt(git, "rev-list", "--objects", "--no-object-names", "--missing=print", f"{commit}^{{tree}}").stdout
    return frozenset(word[1:] for word in listing.decode("ascii", "replace").split() if word.startswith("?"))

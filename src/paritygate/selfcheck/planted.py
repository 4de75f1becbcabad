"""The planted suite: what is wrong with each of its tests, and how it is laid out as a project of its own.

It stands in `suite/`, beside this file, and is never run from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import msgspec

from paritygate.outcomes.words import Axis, Label
from paritygate.snapshot import git

CONTROL = "control"
IGNORED = "data/settings.local.json"
"""The file that the suite's `.gitignore` names; the rule is written on laying out, or no wheel would carry the file."""

_IDENTITY = ("-c", "user.name=paritygate", "-c", "user.email=paritygate@localhost", "-c", "commit.gpgsign=false")
_DATES = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
"""Equal each time, so that the images of one selfcheck serve the next one."""


class Plant(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One fault: the test that has it, what it is, and what the gate has to say of it; the control is a file and has none.

    `cause` is an `Axis` or a `CauseKind`, `polluters` the tests that the cause has to name.
    """

    test: str
    what: str
    label: Label
    cause: str = ""
    polluters: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """Say in which file the test is."""
        return self.test.partition("::")[0]

    @property
    def axis(self) -> Axis | None:
        """Say which axis shows the fault; None where none does, but attempts do."""
        return Axis(self.cause) if self.cause in frozenset(Axis) else None


def read() -> dict[str, Plant]:
    """Read what is planted, by name, in the order in which it is told."""
    return msgspec.toml.decode(_own().joinpath("planted.toml").read_bytes(), type=dict[str, Plant])


def chosen(names: Iterable[str]) -> dict[str, Plant]:
    """Take some of what is planted, and the control with them; all where none is named."""
    plants = read()
    wanted = {*names} or plants.keys()
    return {name: plant for name, plant in plants.items() if name in wanted or name == CONTROL}


def axes_left_out(plants: Mapping[str, Plant]) -> tuple[Axis, ...]:
    """Say which axes of the suite nothing of these plants needs."""
    every = {plant.axis for plant in read().values()} - {plant.axis for plant in plants.values()}
    return tuple(axis for axis in Axis if axis in every)


def lay_out(project: Path, variables: Mapping[str, str]) -> None:
    """Write the suite into a folder that is not there yet, as a repository with one commit, where there is a git.

    The only file that is not committed is the ignored one. Raises `SnapshotError` where git refuses.
    """
    for path, content in _below(_own().joinpath("suite"), ""):
        place = project / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    (project / ".gitignore").write_text(f"/{IGNORED}\n", encoding="utf-8")
    found = git.find(str(project), variables)
    if found is None:
        return
    program = msgspec.structs.replace(found, environ=found.environ | _DATES)
    git.run(program, "-c", "init.defaultBranch=main", "init", "--quiet", "--template=")
    git.run(program, "-c", "core.autocrlf=false", "add", "--all")
    git.run(program, *_IDENTITY, "commit", "--quiet", "--message=What is planted")


def _own() -> Traversable:
    return files("paritygate").joinpath("selfcheck")


def _below(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _below(entry, f"{prefix}{entry.name}/")
        elif entry.is_file():
            yield prefix + entry.name, entry.read_bytes()

"""`paritygate lock`: write down what the files are that tests read, and make sure that they still are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import click

from paritygate.cli.options import PROJECT
from paritygate.cli.user import absolute
from paritygate.config import file as config_file
from paritygate.disciplines import fixtures, records
from paritygate.disciplines.fixtures import Shelf
from paritygate.errors import RefusedError, UsageError
from paritygate.locks import lock as lock_file
from paritygate.locks.comparing import Standing
from paritygate.outcomes.words import ExitCode

NO = frozenset({"", "0", "false", "no", "off"})


@click.command("lock")
@click.argument("paths", nargs=-1)
@click.option(
    "--write", "writes", is_flag=True, help="Write down what PATHS (files, folders, globs) are now, and say what moved."
)
@click.option("--check", "checks", is_flag=True, help="Make sure that every locked file is what it was; 5 where one is not.")
@click.option("--in-ci", is_flag=True, help="Write also where `CI` is set.")
@PROJECT
def lock(paths: tuple[str, ...], project: str, *, writes: bool, checks: bool, in_ci: bool) -> int:
    """Lock the files that tests read, so that whoever mends a fixture has it in the diff."""
    if writes == checks:
        raise UsageError("`paritygate lock` takes either `--write` or `--check`")
    if checks and paths:
        raise UsageError("`paritygate lock --check` takes no paths", "it checks everything that is locked")
    if writes and not in_ci and os.environ.get("CI", "").casefold() not in NO:
        raise RefusedError(
            "a lock is not written under `CI`, where nobody would look at what moved", "`--in-ci` writes it all the same"
        )
    folder = absolute(project).resolve()
    settings = config_file.load(folder).settings
    place = records.of(folder, dict(os.environ))
    shelf = fixtures.look(place, settings, records.read(place, place.from_top(settings.lock)))
    return write(shelf, tuple(_from_project(path, folder) for path in paths)) if writes else check(shelf)


def check(shelf: Shelf) -> int:
    """Say that the lock holds, or raise what says where it does not."""
    if shelf.lock is None and not shelf.settings.locked:
        raise RefusedError(f"there is no lock `{shelf.settings.lock}`", "`paritygate lock --write tests/data` makes one")
    checked = fixtures.check(shelf)
    fixtures.refuse_broken(shelf, checked)
    click.echo(f"{_files(len(checked.digests))} locked in `{shelf.settings.lock}`, and all are what they were")
    for path in checked.converted:
        click.echo(f"note: `{path}` has other line endings here than in git, which converts them", err=True)
    return ExitCode.PARITY


def write(shelf: Shelf, asked: tuple[str, ...]) -> int:
    """Write the lock anew, and say what moved."""
    fixtures.refuse_faults(shelf)
    before = {} if shelf.lock is None else shelf.lock.digests
    after = fixtures.taken_in(shelf, asked)
    moved = _moved(before, after)
    if moved or shelf.lock is None:
        records.store(lock_file.write(after), shelf.path, "lock")
    for line in moved:
        click.echo(line)
    click.echo(f"{_files(len(after))} locked in `{shelf.settings.lock}`{'' if moved else ', nothing moved'}", err=True)
    for path in after:
        standing = fixtures.standing(shelf, path)
        if standing in {Standing.UNTRACKED, Standing.IGNORED}:
            what = "ignored" if standing is Standing.IGNORED else "not tracked"
            click.echo(f"warning: `{path}` is {what} by git: a fresh clone lacks it", err=True)
    for path in fixtures.unlocked(shelf, after):
        click.echo(
            f"warning: `{path}` lies beside locked files and is not locked; lock it, or say with `locked` what is", err=True
        )
    return ExitCode.PARITY


def _moved(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    moved = {path: "removed" for path in before if path not in after}
    moved |= {path: "changed" if path in before else "added" for path, digest in after.items() if before.get(path) != digest}
    return [f"{what:<8} {path}" for path, what in sorted(moved.items())]


def _from_project(path: str, project: Path) -> str:
    """Write a path as one from the project; the user gave it from where they are."""
    inside = os.path.relpath(os.path.realpath(Path.cwd()) + os.sep + path if not Path(path).is_absolute() else path, project)
    plain = inside.replace(os.sep, "/")
    if plain == ".." or plain.startswith("../"):
        raise UsageError(f"`{path}` lies outside the project `{project}`", "only files of the project can be locked")
    return plain


def _files(count: int) -> str:
    return f"{count} file{'s are' if count != 1 else ' is'}"

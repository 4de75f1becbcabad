"""Ruff, run over some files for the hazards that it has rules for; each of its words becomes a node of ours."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from paritygate.errors import NoVerdictError
from paritygate.hazards.catalogue import KIND_OF_RULE
from paritygate.hazards.source import Source
from paritygate.outcomes.hazards import HazardKind

AT_ONCE = 400
"""Files in one call: a command line has an end."""
_LINES = re.compile(r"\r\n|\r|\n")


class Place(msgspec.Struct, frozen=True):
    """Where, as ruff counts: rows and columns from 1, columns in characters."""

    row: int
    column: int


class Word(msgspec.Struct, frozen=True):
    """One thing that ruff found; `code` is null or a word for what it could not parse."""

    filename: str
    location: Place
    end_location: Place
    code: str | None = None


class Ruff(msgspec.Struct, frozen=True, kw_only=True):
    """The program, and the variables that it gets."""

    program: str
    environ: Mapping[str, str]


def find(environ: Mapping[str, str]) -> Ruff | None:
    """Find ruff: the one that is installed with this program, else the one on the PATH; None where there is none."""
    beside = sysconfig.get_path("scripts")
    program = shutil.which("ruff", path=os.pathsep.join((beside, environ.get("PATH", os.defpath))))
    return None if program is None else Ruff(program=program, environ=environ)


def look(ruff: Ruff, top: Path, paths: Sequence[str]) -> dict[str, list[Word]]:
    """Run ruff over files below `top` and list by file what it found; it reads no configuration and keeps no cache."""
    words: dict[str, list[Word]] = {}
    for start in range(0, len(paths), AT_ONCE):
        for word in _run(ruff, top, paths[start : start + AT_ONCE]):
            place = os.path.relpath(word.filename, os.path.realpath(top)).replace(os.sep, "/")
            words.setdefault(place, []).append(word)
    return words


def _run(ruff: Ruff, top: Path, paths: Sequence[str]) -> list[Word]:
    selected = ",".join(KIND_OF_RULE)
    options = ("--isolated", "--no-cache", "--preview", "--exit-zero", "--output-format=json", "--target-version=py313")
    command = [ruff.program, "check", *options, f"--select={selected}", "--", *(f"./{path}" for path in paths)]
    environ = {name: value for name, value in ruff.environ.items() if not name.startswith("RUFF_")}
    try:
        done = subprocess.run(command, cwd=os.path.realpath(top), env=environ, capture_output=True, check=False)  # noqa: S603
    except OSError as error:
        raise _failed(ruff, error.strerror or str(error)) from error
    if done.returncode != 0:
        raise _failed(ruff, done.stderr.decode("utf-8", "replace").strip())
    try:
        return msgspec.json.decode(done.stdout, type=list[Word])
    except msgspec.DecodeError as error:
        raise _failed(ruff, f"its answer cannot be read: {error}") from error


def _failed(ruff: Ruff, why: str) -> NoVerdictError:
    said = " | ".join(line.strip() for line in why.splitlines() if line.strip())
    return NoVerdictError(
        f"`{ruff.program}` could not look for hazards: {said}",
        "install ruff 0.8 or later, or leave its rules out with `--without-ruff`",
    )


def translate(words: Sequence[Word], source: Source) -> Iterator[tuple[HazardKind, ast.Call]]:
    """Find the calls that ruff speaks of; what it says of anything else is not ours."""
    wanted = {
        (_position(word.location, source), _position(word.end_location, source)): kind
        for word in words
        if (kind := KIND_OF_RULE.get(word.code or "")) is not None
    }
    if not wanted:
        return
    for call, _ in source.calls():
        start = (call.lineno, call.col_offset)
        for end in (_end(call), _end(call.func)):
            kind = wanted.pop((start, end), None)
            if kind is not None:
                yield kind, call


def _end(node: ast.expr) -> tuple[int, int]:
    return (node.end_lineno or 0, node.end_col_offset or 0)


def _position(place: Place, source: Source) -> tuple[int, int]:
    """Turn a place into Python's own words: columns are bytes, from 0."""
    there = lines(source)
    line = there[place.row - 1] if place.row <= len(there) else ""
    return place.row, len(line[: place.column - 1].encode("utf-8", "surrogatepass"))


def lines(source: Source) -> list[str]:
    """Split a file as Python counts its lines; `splitlines` knows further ends."""
    return _LINES.split(source.text)

"""Files of a project that tests change, and what `paritygate changed` says that each of them chose."""

from __future__ import annotations

from pathlib import Path

from tests.support.command_line import Said


def write(project: Path, name: str, text: str) -> None:
    place = project / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def touch(project: Path, *names: str) -> None:
    for name in names:
        place = project / name
        write(project, name, f"{place.read_text()}\n" if place.exists() else "")


def chosen(said: Said, name: str) -> list[str]:
    """Read the line of one touched file."""
    line = next(line for line in said.out.splitlines() if line.startswith(f"  {name}: "))
    return line.removeprefix(f"  {name}: ").split(", ")

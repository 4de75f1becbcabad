"""What a project offers by its own configuration, commands and plugins, written as installers write it beside its metadata."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

GROUPS = (("project", "scripts", "console_scripts"), ("project", "gui-scripts", "gui_scripts"))


def of(project: Path) -> str:
    """Write the text of `entry_points.txt`, empty where the project offers nothing, or says so only in code or not at all."""
    try:
        known = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    sections: dict[str, dict[str, str]] = {}
    for group, entries in _sections(known):  # what stands under `project` goes before what stands elsewhere
        sections[group] = entries | sections.get(group, {})
    return "\n".join(
        "".join((f"[{group}]\n", *(f"{name} = {value}\n" for name, value in entries.items())))
        for group, entries in sections.items()
    )


def _sections(known: dict[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    for table, key, group in GROUPS:
        if entries := _texts(_table(_table(known, table), key)):
            yield group, entries
    poetry = _table(_table(known, "tool"), "poetry")
    if entries := _texts(_table(poetry, "scripts")):
        yield "console_scripts", entries
    for groups in (_table(_table(known, "project"), "entry-points"), _table(poetry, "plugins")):
        for group in groups:
            if entries := _texts(_table(groups, group)):
                yield group, entries


def _table(known: dict[str, Any], name: str) -> dict[str, Any]:
    found = known.get(name)
    return found if isinstance(found, dict) else {}


def _texts(entries: dict[str, Any]) -> dict[str, str]:
    return {name: value for name, value in entries.items() if isinstance(value, str)}

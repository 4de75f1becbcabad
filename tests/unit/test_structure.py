"""The rooms and what they may import: downwards only, and never from their own row."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import paritygate

SOURCE = Path(paritygate.__file__).parent
ROWS: dict[str, int] = {
    "errors": 0,
    "guest": 0,
    "outcomes": 0,
    "axes": 0,
    "witnesses": 0,
    "strict_json": 0,
    "misfits": 1,
    "places": 1,
    "console": 1,
    "process": 1,
    "config": 1,
    "events": 1,
    "classifier": 1,
    "freezes": 1,
    "locks": 1,
    "case_folding": 1,
    "hazards": 1,
    "ingest": 1,
    "sweeps": 1,
    "portable": 1,
    "archive": 2,
    "environments": 2,
    "docker_engine": 3,
    "images": 4,
    "runners": 4,
    "selection": 4,
    "snapshot": 4,
    "reports": 5,
    "case_trial": 6,
    "causes": 6,
    "changed": 6,
    "confirm": 6,
    "disciplines": 6,
    "machine": 6,
    "project_images": 6,
    "recorded": 6,
    "doctor": 7,
    "engine_setup": 7,
    "gate": 7,
    "host": 5,
    "proposal": 7,
    "repro": 7,
    "selfcheck": 7,
    "hazard_search": 7,
    "verification": 7,
    "cli": 8,
    "pinning": 2,
    "pytest_plugin": 1,
    "pytest_pins": 3,
    "pytest_locks": 1,
    "pytest_freezes": 1,
    "__main__": 9,
}
ALLOWED_IN_A_ROW = {("errors", "outcomes"), ("witnesses", "axes"), ("witnesses", "outcomes")}
NO_ROOMS = frozenset({"guest", "suite"})
ROOMS = sorted(path for path in SOURCE.rglob("*.py") if not NO_ROOMS.intersection(path.parts) and path != SOURCE / "__init__.py")


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return {name.split(".")[1] for name in names if name.startswith("paritygate.")}


@pytest.mark.parametrize("path", ROOMS, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_room_has_a_row_and_imports_from_rows_below_its_own(path: Path) -> None:
    room = room_of(path)
    upwards = {
        other for other in imported_rooms(path) - {room} if ROWS[other] >= ROWS[room] and (room, other) not in ALLOWED_IN_A_ROW
    }
    assert not upwards


@pytest.mark.parametrize("path", ROOMS, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_stand_at_the_top(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    inside = [
        node.lineno for function in functions for node in ast.walk(function) if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert inside == []


def test_only_the_way_in_imports_late() -> None:
    late = {
        room_of(path)
        for path in ROOMS
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Attribute) and node.attr == "import_module")
        or (isinstance(node, ast.Name) and node.id in {"import_module", "__import__"})
    }
    assert late == {"__main__"}


def test_only_the_engine_imports_the_sdk() -> None:
    importers = {
        room_of(path)
        for path in ROOMS
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "docker" for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "docker")
    }
    assert importers == {"docker_engine"}


def test_the_guest_imports_nothing_of_ours() -> None:
    for path in (SOURCE / "guest").rglob("*.py"):
        assert imported_rooms(path) == set(), path

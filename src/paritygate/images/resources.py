"""The files that go into images: recipes from `images/` and the guest, from a wheel or from a checkout alike."""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path


def recipe(name: str) -> bytes:
    """Read a file of the top-level `images/`, which a wheel carries as `images_data`."""
    return _recipes().joinpath(name).read_bytes()


def sources(folder: str) -> dict[str, bytes]:
    """Read the C sources in a folder of `images/` and what says how to compile them, and with what, by name.

    Nothing else of the folder is taken, such as what was compiled there, so that a wheel and a checkout give the same.
    """
    return {
        entry.name: entry.read_bytes()
        for entry in _recipes().joinpath(folder).iterdir()
        if entry.name in {"Makefile", "needs.sh"} or entry.name.endswith((".c", ".h"))
    }


def guest() -> dict[str, bytes]:
    """Read every file of the guest, by its path below the guest's folder."""
    return dict(sorted(_below(files("paritygate").joinpath("guest"), "")))


def guest_file(name: str) -> AbstractContextManager[Path]:
    """Have one file of the guest where a program can read it."""
    return as_file(files("paritygate").joinpath("guest", name))


def _recipes() -> Traversable:
    package = files("paritygate")
    carried = package.joinpath("images_data")
    return carried if carried.is_dir() else Path(str(package)).parents[1] / "images"


def _below(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            found += _below(entry, f"{prefix}{entry.name}/")
        elif entry.is_file() and not entry.name.endswith(".pyc"):
            found.append((prefix + entry.name, entry.read_bytes()))
    return found

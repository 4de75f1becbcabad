"""The files that go into images: recipes from `images/` and the guest, from a wheel or from a checkout alike."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path


def recipe(name: str) -> bytes:
    """Read a file of the top-level `images/`, which a wheel carries as `images_data`."""
    package = files("paritygate")
    carried = package.joinpath("images_data", name)
    if carried.is_file():
        return carried.read_bytes()
    return (Path(str(package)).parents[1] / "images" / name).read_bytes()


def guest() -> dict[str, bytes]:
    """Read every file of the guest, by its path below the guest's folder."""
    return dict(sorted(_below(files("paritygate").joinpath("guest"), "")))


def _below(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            found += _below(entry, f"{prefix}{entry.name}/")
        elif entry.is_file() and not entry.name.endswith(".pyc"):
            found.append((prefix + entry.name, entry.read_bytes()))
    return found

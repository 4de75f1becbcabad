"""What is to be installed, as a value: the files to send and the steps to take.

Nothing here reads a project or speaks to an engine.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

GENERATED = ".paritygate"
"""Where files of our own making lie among the manifests, so that they cannot hide one of the project's."""


class StepKind(StrEnum):
    """How the installer takes a step; its table is in `images/install.py`."""

    PIP = "pip"
    SHELL = "shell"
    UV = "uv"
    METADATA = "metadata"


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One step.

    | kind | arguments | names |
    |---|---|---|
    | `pip` | what follows `pip install` | - |
    | `shell` | one line for `sh -c` | - |
    | `uv` | what selects groups, extras and the package | distributions not to install |
    | `metadata` | the file to write requirements to | extras to choose from, best first, `|` before the second choice |

    `directory` is relative to the tree's top.
    """

    kind: StepKind
    arguments: tuple[str, ...]
    names: tuple[str, ...] = ()
    directory: str = ""


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """How one project's dependencies are installed.

    `files` maps paths relative to the tree's top to contents; `members` are directories, relative to it, that are installed
    editable once the tree is there, the project last; `distributions` their names. `project` says whether that is done, or by
    which command instead. `python` is the version asked for in so many words. `fallback` is tried where this recipe fails.
    """

    source: str
    files: dict[str, bytes]
    steps: tuple[Step, ...]
    build_requires: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    distributions: tuple[str, ...] = ()
    requires_python: str = ""
    python: str = ""
    project: bool | str = True
    notes: tuple[str, ...] = ()
    fallback: Recipe | None = None


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What one kind of manifest says: a part of a recipe. `locals` are directories inside the tree that it installs."""

    source: str
    files: dict[str, bytes] = {}
    steps: tuple[Step, ...] = ()
    locals: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

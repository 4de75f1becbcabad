"""The project's own interpreter: which it is, what it has, and how it finds the project in a copy of its tree.

Nothing in it is changed: what it is told, it is told by variables.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from paritygate.errors import ConfigError, NoVerdictError
from paritygate.outcomes.trees import Tree
from paritygate.runners.host import Interpreter

PATIENCE_SECONDS = 120.0
WITHOUT_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}


class Chosen(msgspec.Struct, frozen=True):
    """An interpreter and why it is that one."""

    python: Path
    why: str


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """What `guest/interpreter.py` says; `installed` are those of pytest and xdist that it has."""

    version: str
    executable: str
    prefixes: tuple[str, ...]
    user_base: str
    installed: tuple[str, ...]
    search_path: tuple[str, ...]
    mapped: tuple[str, ...]
    editable: dict[str, str]
    entry_points: dict[str, str]
    distributions: dict[str, str]
    locales: tuple[str, ...]
    zones: tuple[str, ...]


def choose(setting: str, project: Path, variables: Mapping[str, str]) -> Chosen:
    """Find the interpreter: the one that is set, else that of `VIRTUAL_ENV`, of the project's `.venv`, or this one."""
    if setting:
        python = project / Path(setting).expanduser()
        if not os.access(python, os.X_OK) or python.is_dir():
            raise ConfigError("the configuration", (f"`host.python`: there is no program `{python}`",))
        return Chosen(python, "`host.python`")
    for folder, why in ((variables.get("VIRTUAL_ENV", ""), "`VIRTUAL_ENV`"), (str(project / ".venv"), "the project's `.venv`")):
        python = Path(folder, "bin", "python")
        if folder and os.access(python, os.X_OK):
            return Chosen(python, why)
    return Chosen(Path(sys.executable), "the interpreter of paritygate itself")


def version_of(setting: str, project: Path, variables: Mapping[str, str]) -> str:
    """Say `X.Y` of the project's interpreter on this computer, or of this one where that has none that works."""
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    try:
        python = str(choose(setting, project, variables).python)
        command = (python, "-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2])")
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return here
    return done.stdout.strip() or here


def another(target: str, there: str, here: str, images: bool) -> NoVerdictError | None:  # noqa: FBT001 - what it hangs on
    """Say that a computer has another Python than the other side of a run, and what to do; None where it is the very same.

    `images` says that the other side's is in images, and not on this computer.
    """
    if there == here:
        return None
    what = f"Python is {there} on `{target}` and {here} on the other side: cells of different Pythons cannot be compared"
    if images:
        mend = f"name an image with Python {there} with `base` under `[tool.paritygate.image]`"
    else:
        mend = f"make `.venv` here with Python {there}, or name one that has it with `python` under `[tool.paritygate.host]`"
    return NoVerdictError(what, f"{mend}; or install Python {here} on `{target}`")


def survey(chosen: Chosen, script: Path, locales: Iterable[str] = (), zones: Iterable[str] = ()) -> Survey:
    """Ask an interpreter what it has, and which of these are there; raises `NoVerdictError` if it cannot, or has no pytest."""
    command = (str(chosen.python), "-B", str(script), *sorted(set(locales)), "--", *sorted(set(zones)))
    variables = WITHOUT_BYTECODE | {"PATH": os.defpath, "HOME": str(Path.home())}
    try:
        done = subprocess.run(  # noqa: S603 - the project's interpreter
            command, capture_output=True, env=variables, cwd="/", stdin=subprocess.DEVNULL, timeout=PATIENCE_SECONDS, check=True
        )
        found = msgspec.json.decode(done.stdout, type=Survey)
    except (OSError, subprocess.SubprocessError, msgspec.DecodeError) as error:
        said = (getattr(error, "stderr", b"") or b"").decode(errors="replace").strip().splitlines()
        what = f"`{chosen.python}` ({chosen.why}) does not work: {said[-1] if said else error}"
        raise NoVerdictError(what, "name another with `python` under `[tool.paritygate.host]`") from error
    if "pytest" not in found.installed:
        what = f"pytest is not installed for `{chosen.python}` ({chosen.why})"
        raise NoVerdictError(what, "install it there, or name another with `python` under `[tool.paritygate.host]`")
    return found


def for_cells(chosen: Chosen, found: Survey, trees: Sequence[Tree], path: str) -> Interpreter:
    """Say how the interpreter finds the project in a cell's tree, where it now finds it in the working tree.

    `path` is where programs are searched for. Raises `NoVerdictError` where a package of the tree is installed editable in a
    way that leads to the working tree whatever it is told: cells would test that instead of their own copies.
    """
    some = trees[0]
    top = Path(some.root).resolve()
    inside = tuple(_inside((*found.search_path, *found.mapped), top, found.prefixes))
    for name, folder in found.editable.items():
        home = Path(folder).resolve()
        if home.is_relative_to(top) and not any((top / root).is_relative_to(home) for root in inside):
            what = f"`{name}` is installed editable for `{chosen.python}`, in a way that only leads to the working tree"
            raise NoVerdictError(
                what, "install it anew with `pip install -e . --config-settings editable_mode=compat`, or use Docker"
            )
    own = {top / root for root in inside}
    elsewhere = [folder for folder in found.search_path if Path(folder).resolve() not in own]
    return Interpreter(
        python=str(chosen.python.absolute()),
        path=tuple(part for part in path.split(os.pathsep) if part.startswith("/")),
        kept=kept((*found.prefixes, *elsewhere, str(chosen.python.absolute().parent), *path.split(os.pathsep)), top),
        roots=tuple(dict.fromkeys((*inside, *sources(some)))),
        variables={"PYTHONUSERBASE": found.user_base} if found.user_base else {},
    )


def kept(folders: Iterable[str], top: Path) -> tuple[str, ...]:
    """List the folders that cells must see, by their own names and by where these lead, with those of this interpreter.

    The working tree, whose `top` is given, is none of them, nor is what it lies in.
    """
    named = [Path(folder) for folder in (*folders, sys.prefix, sys.base_prefix) if folder.startswith("/")]
    both = dict.fromkeys((*named, *(folder.resolve() for folder in named)))
    return tuple(str(each) for each in both if each.is_dir() and not top.is_relative_to(each))


def _inside(searched: Iterable[str], top: Path, prefixes: Sequence[str]) -> Iterator[str]:
    """Yield those of the folders searched that are the tree's own, and not of a virtual environment in it, from its top."""
    for each in searched:
        folder = Path(each).resolve()
        if folder.is_relative_to(top) and not any(folder.is_relative_to(prefix) for prefix in prefixes):
            yield folder.relative_to(top).as_posix().removeprefix(".")


def sources(tree: Tree) -> Iterator[str]:
    """Yield the folder `src` of the project, where modules lie in it."""
    source = f"{tree.directory}/src/".lstrip("/")
    names = [entry.path.removeprefix(source) for entry in tree.entries if entry.path.startswith(source)]
    if any(name.endswith(".py") and name.count("/") <= 1 for name in names):
        yield source.rstrip("/")

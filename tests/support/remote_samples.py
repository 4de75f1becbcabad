"""Sample projects on a computer without an engine: the interpreter that they take, and which of their axes it has.

What a sample expects follows from axes; where the computer lacks one of those behind its labels, nothing can be said of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
import tomli_w

from paritygate.outcomes.words import Axis, Purpose
from tests.support import samples
from tests.support.samples import Judged

INSTALLED = {
    "plain_package": ("six",),
    "requirements_files": ("six==1.16.0", "toolz"),
    "seeded_alike": ("pytest-randomly==3.16.0",),
    "src_layout_hatchling": ("toolz", "--editable", "."),
    "src_layout_setuptools": ("toolz", "--editable", "."),
}
"""Samples that take more than pytest, and what has to be installed for them."""
COMMON = ("pytest", "pytest-randomly", "pytest-xdist", "pytest-cov")
OF_A_USER = frozenset({"control_green"})
"""Samples whose tests must not be run by root, as in a container they are not."""
INSTALL_SECONDS = 300
EXPLAIN = "PARITYGATE_EXPLAIN_ALL"
LONG_ENOUGH = "600"


def everything(variable: str) -> bool:
    """Say whether all samples are to be judged, which takes a variable: it takes long."""
    return bool(os.environ.get(variable))


def budget() -> str:
    """Say for how many seconds causes are looked for: not at all, unless `PARITYGATE_EXPLAIN_ALL=1` asks for those of all."""
    return LONG_ENOUGH if everything(EXPLAIN) else "0"


def judgeable(lacking: Iterable[Axis]) -> list[str]:
    """List the samples whose labels follow from nothing that is lacking, as the clock is wherever others are."""
    without = {axis.value for axis in (*lacking, Axis.CLOCK)}
    left_out = OF_A_USER if os.geteuid() == 0 else frozenset[str]()
    return [name for name in samples.names() if name not in left_out and not axes_of(name) & without]


def has_locale(name: str) -> bool:
    """Say whether this computer has a locale."""
    command = (sys.executable, "-c", f"import locale; locale.setlocale(locale.LC_ALL, {name!r})")
    return subprocess.run(command, capture_output=True, check=False, timeout=INSTALL_SECONDS).returncode == 0


def axes_of(name: str) -> set[str]:
    """Say what is behind the labels of a sample."""
    return {cause for causes in samples.expectation(name).causes.values() for cause in causes}


def interpreter(folder: Path, project: Path, more: Iterable[str]) -> Path:
    """Make a virtual environment with what a sample takes, and give its interpreter."""
    subprocess.run((sys.executable, "-m", "venv", folder), check=True, timeout=INSTALL_SECONDS)
    python = folder / "bin" / "python"
    command = (str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *COMMON, *more)
    subprocess.run(command, cwd=project, check=True, timeout=INSTALL_SECONDS)
    return python


def configure(project: Path, settings: Mapping[str, object]) -> None:
    """Write settings of the run into the sample's configuration, beside its own, as something that is committed."""
    path = project / "paritygate.toml"
    known = msgspec.toml.decode(path.read_bytes()) if path.exists() else {}
    path.write_text(tomli_w.dumps(merged(known, settings)), encoding="utf-8")
    samples.git(project, "add", "paritygate.toml")
    samples.git(project, "commit", "--quiet", "--message=Where it runs", "--", "paritygate.toml")


def merged(one: Mapping[str, object], other: Mapping[str, object]) -> dict[str, object]:
    """Lay one table over another, table by table."""
    result = dict(one)
    for name, value in other.items():
        mine = one.get(name)
        result[name] = merged(mine, value) if isinstance(mine, dict) and isinstance(value, dict) else value
    return result


def runners(judged: Judged) -> set[str]:
    """Say on what the cells of the gate ran."""
    assert judged.artifact is not None, judged.output
    return {f"{cell.env} {cell.runner}" for cell in judged.artifact.cells if cell.purpose is Purpose.GATE}

"""`paritygate sweep` through its real command line, in a process of its own, and what is known of the sample for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec

from paritygate import archive
from paritygate.outcomes.words import Axis
from tests.support.samples import PATIENCE_SECONDS, SAMPLES, Judged, clean_environment

SWEPT = SAMPLES / "swept"


class Rules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """For each axis and test under which values it is not green, and what its rule says; all other tests hold everywhere.

    `ordinary` are values that find nothing that another does not, each with the reason.
    """

    axes: dict[Axis, dict[str, tuple[str, ...]]]
    ordinary: dict[Axis, dict[str, str]] = {}
    words: dict[str, str] = {}


def rules() -> Rules:
    """Read what is known of the sample."""
    return msgspec.toml.decode((SWEPT / "rules.toml").read_bytes(), type=Rules)


def sweep(project: Path, *arguments: str) -> Judged:
    """Sweep axes over a project."""
    done = subprocess.run(
        [sys.executable, "-m", "paritygate", "sweep", *arguments, "--project", str(project)],
        env=clean_environment(),
        cwd=project,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
        timeout=PATIENCE_SECONDS,
    )
    report = project / "parity_sweep.json"
    return Judged(status=done.returncode, output=done.stdout, artifact=archive.read(report) if report.is_file() else None)

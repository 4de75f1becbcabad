"""`paritygate sweep` through its real command line, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from paritygate import archive
from tests.support.samples import PATIENCE_SECONDS, Judged, clean_environment


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

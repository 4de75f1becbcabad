"""Time sweeps of a selection: over all time zones of the table beside bare containers of the same image, and over all axes.

    python -m bench.sweeps [--seconds 3] [--rounds 2] [--every]

A selection is four files with twelve tests in all that sleep for that many seconds together. A bare container is `docker run`
with the selection mounted, plain pytest and the zone in `TZ`; as many run at the same time as cells do. Images are there
before anything is timed. With `--every` one sweep over all axes of the table follows, each value once.
"""

from __future__ import annotations

import argparse
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.runners import FILES, SUITE, TESTS
from paritygate import archive
from paritygate.outcomes.artifact import Artifact
from paritygate.outcomes.words import Axis
from paritygate.witnesses.table import WITNESSES
from tests.support.gate_runs import lay_out

SETTINGS = '[environments.home]\nlocale = "C.UTF-8"\ncase_sensitive = "any"\nworkers = 0\nworktree = "clean"\n'
PYTEST = "/opt/paritygate/venv/bin/python -m pytest -q -p no:cacheprovider -p no:randomly -p no:xdist"


def project(folder: Path, seconds: float) -> Path:
    """Lay out a selection."""
    suite = SUITE.format(each=TESTS // FILES, pause=seconds / TESTS)
    return lay_out(folder, {f"test_part{part}.py": suite for part in range(FILES)} | {"paritygate.toml": SETTINGS})


def sweep(folder: Path, *axes: str) -> tuple[float, Artifact]:
    """Sweep; returns the seconds of the whole, and what was seen."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "paritygate", "sweep", *axes, "--quiet", "--project", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - began
    if done.returncode != 0:
        raise SystemExit(f"the sweep ended {done.returncode}\n{done.stdout}\n{done.stderr}")
    return seconds, archive.read(folder / "parity_sweep.json")


def bare(folder: Path, image: str, zones: list[str], at_once: int) -> float:
    """Run one bare container for each zone; returns the seconds of all."""

    def one(zone: str) -> None:
        mounted = ("--volume", f"{folder}:/selection:ro", "--workdir", "/selection", "--env", f"TZ={zone}")
        command = ["docker", "run", "--rm", "--network", "none", *mounted, image, *shlex.split(PYTEST)]
        subprocess.run(command, check=True, capture_output=True)

    began = time.perf_counter()
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(one, zones))
    return time.perf_counter() - began


def image_of(artifact: Artifact) -> str:
    """Name the image from which the cells of a sweep started."""
    if artifact.material is None:
        raise SystemExit("the report names no image")
    return next(iter(artifact.material.images.values())).name


def zones(folder: Path, rounds: int) -> None:
    """Print what a sweep over all zones costs."""
    first, seen = sweep(folder, Axis.TIMEZONE)
    values = [witness.value for witness in WITNESSES[Axis.TIMEZONE]]
    cells, at_once = len(seen.cells), os.cpu_count() or 1
    print(f"{len(values)} zones, {cells} cells, {at_once} at once; the first sweep, which makes images: {first:.1f} s")
    ours, theirs = [], []
    for _ in range(rounds):
        theirs.append(bare(folder, image_of(seen), values, at_once))
        ours.append(sweep(folder, Axis.TIMEZONE)[0])
    for what, wall in (("sweep", ours), ("bare containers", theirs)):
        median = statistics.median(wall)
        print(f"  {what:<16} {median:6.1f} s ({min(wall):.1f} to {max(wall):.1f}), {median / len(values):.2f} s a value")
    print(f"  load {os.getloadavg()[0]:.1f}", flush=True)


def every(folder: Path) -> None:
    """Print what one sweep over all axes costs."""
    seconds, seen = sweep(folder, *WITNESSES)
    print(f"all {len(WITNESSES)} axes: {len(seen.cells)} cells, {seconds:.0f} s, {seconds / len(seen.cells):.2f} s a cell")
    for each in seen.sweeps:
        unproven = [value.value for value in each.values if not value.observed]
        print(f"  {each.axis:<16} {len(each.values):2} values{f', not observed: {unproven}' if unproven else ''}")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--every", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = project(Path(name) / "swept", options.seconds)
        print(f"selection of {options.seconds:g} s; load {os.getloadavg()[0]:.1f}")
        zones(folder, options.rounds)
        if options.every:
            every(folder)


if __name__ == "__main__":
    main()

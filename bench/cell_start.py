"""Time what a cell's own filesystem adds to its start, for trees of few and of many files.

    python bench/cell_start.py [--files 3000] [--rounds 10]

The gate makes the images of a project with one test and so many further files of 2 kB; then containers like a cell's make the
filesystem in them, as the launcher does before its probe. Said are medians with the spread from least to most.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from paritygate.runners.docker import CAPABILITIES, DEVICES, MOUNTING

MAKE = """\
import sys, time
sys.path.insert(0, "/opt/paritygate/guest")
start = time.perf_counter()
from filesystem import making
made = making.make({"fold": True, "order": "", "seed": 0, "size": 0, "shadowed": []}, "/parity/workspace")
print(time.perf_counter() - start)
made.end()
"""


def image_of(files: int) -> str:
    """Have the gate make a project's images, and name the one that folds case."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, f"start-{files}")
        folder.mkdir()
        for number in range(files):
            path = folder / f"data{number // 100}" / f"file{number}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{number}\n" * 400, encoding="utf-8")
        (folder / "test_one.py").write_text("def test_one():\n    pass\n", encoding="utf-8")
        report = Path(name, "report.json")
        command = [sys.executable, "-m", "paritygate", "run", "--quiet", "--attempts", "1"]
        subprocess.run([*command, "--project", folder, "--report", report], check=True, stdout=subprocess.DEVNULL)
        return str(json.loads(report.read_bytes())["images"]["local-like"])


def seconds(image: str) -> float:
    """Make the filesystem in a fresh container."""
    options = [f"--cap-add={name}" for name in (*CAPABILITIES, *MOUNTING)] + [f"--device={device}" for device in DEVICES]
    command = ["docker", "run", "--rm", "--init", "--network=none", "--user=0:0", "--cap-drop=ALL", *options]
    command += ["--entrypoint=/opt/paritygate/python", image, "-I", "-S", "-B", "-c", MAKE]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    few, many = image_of(0), image_of(options.files)
    times: dict[str, list[float]] = {few: [], many: []}
    for number in range(options.rounds):
        for image in (few, many) if number % 2 else (many, few):
            times[image].append(seconds(image))
    for image, what in ((few, "1 file"), (many, f"{options.files + 1} files")):
        found = [each * 1000 for each in times[image]]
        print(f"{what}: {statistics.median(found):.0f} ms ({min(found):.0f} to {max(found):.0f})")
    more = statistics.median(times[many]) - statistics.median(times[few])
    print(f"a file: {more / options.files * 1e6:.0f} us")


if __name__ == "__main__":
    main()

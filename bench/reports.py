"""Time every format over 4 cells of 20,000 tests, and verifying the same.

Run as `python bench/reports.py [TESTS]` from the top of the checkout; prints seconds of CPU, the best of three, the size, and the
peak of memory in MB.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

from paritygate import archive
from paritygate.reports.findings import Page
from paritygate.reports.formats import Format, render
from paritygate.verification import flow

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.support.rich_artifact import large_artifact  # the checkout's own, found above

ROUNDS = 3


def said(step: str, seconds: list[float], size: int) -> None:
    """Print one line."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{step:<10} {min(seconds):6.2f} s  {size / 1e6:6.2f} MB  (peak {peak} MB)")


def main() -> None:
    """Print the figures."""
    artifact = large_artifact(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
    for form in Format:
        seconds, size = [], 0
        for _ in range(ROUNDS):
            start = time.process_time()
            size = len(render(artifact, form, Page(120, "parity_report.json")))
            seconds.append(time.process_time() - start)
        said(form, seconds, size)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "parity_report.json"
        archive.write(artifact, path)
        seconds = []
        for _ in range(ROUNDS):
            start = time.process_time()
            flow.verify(path, artifact.paritygate, None)
            seconds.append(time.process_time() - start)
        said("verify", seconds, path.stat().st_size)


if __name__ == "__main__":
    main()

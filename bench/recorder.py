"""Measure what the recorder costs a test: pytest with and without it, in interleaved pairs.

    python bench/recorder.py [--tests 2000] [--milliseconds 0] [--pairs 20]

Figures are processor seconds (user and system) of the whole process, divided by the tests. `--milliseconds` lets every test
keep the processor busy for so long; the share of the suite is what counts then.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.support import recording

FILES = 4
BUSY = """\
import time
import pytest
@pytest.mark.parametrize("case", range({count}))
def test_busy(case):
    end = time.process_time() + {seconds}
    while time.process_time() < end:
        pass
"""


def processor_seconds(run: Callable[[], object]) -> float:
    """Run something that waits for its child; returns the child's user and system seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, default=2000)
    parser.add_argument("--milliseconds", type=float, default=0.0)
    parser.add_argument("--pairs", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(FILES):
            text = BUSY.format(count=options.tests // FILES, seconds=options.milliseconds / 1000)
            (folder / f"test_{number}.py").write_text(text, encoding="utf-8")
        asked = recording.Asked()
        plain = recording.arguments(folder, asked)[len(("-p", "paritygate_recorder")) :]
        command = [sys.executable, "-B", "-c", recording.BOOT, *plain]
        variables = recording.environment(asked, "")

        def without() -> None:
            subprocess.run(command, cwd=folder, env=variables, stdout=subprocess.DEVNULL, check=True)

        def with_recorder() -> None:
            assert len(recording.record(folder, asked).of("test")) == options.tests

        without(), with_recorder()
        pairs = [(processor_seconds(without), processor_seconds(with_recorder)) for _ in range(options.pairs)]
    costs = [(ours - bare) / options.tests * 1e6 for bare, ours in pairs]
    shares = [(ours - bare) / bare * 100 for bare, ours in pairs]
    least = (min(ours for _, ours in pairs) - min(bare for bare, _ in pairs)) / options.tests * 1e6
    print(f"{options.pairs} pairs of {options.tests} tests of {options.milliseconds:g} ms")
    print(f"a test: median {statistics.median(costs):.0f} us ({min(costs):.0f} to {max(costs):.0f}), by minima {least:.0f} us")
    print(f"of the suite: median {statistics.median(shares):.2f} % ({min(shares):.2f} to {max(shares):.2f})")


if __name__ == "__main__":
    main()

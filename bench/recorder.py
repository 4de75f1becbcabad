"""Measure what the recorder costs a test: pytest with and without it, in interleaved pairs, at two sizes of suite.

    python bench/recorder.py [--tests 2000] [--milliseconds 0] [--pairs 20] [--recorder FOLDER]

Figures are processor seconds (user and system) of whole processes, so starting and ending is in them. What it costs a test and
what it costs a process are told apart by the two sizes, the second a tenth of the first. Each figure is the median of the pairs
with an interval that has the true median in it 95 times in 100 (by bootstrap).

`--milliseconds` gives every test a fixed piece of work that takes about so long: counted, not timed, so that both sides of a
pair do the same. The share of the suite is what counts then. `--recorder` takes another version of the recorder.
"""

from __future__ import annotations

import argparse
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.support import recording

FILES = 4
RESAMPLES = 2000
BUSY = """\
import pytest
@pytest.mark.parametrize("case", range({count}))
def test_busy(case):
    for _ in range({rounds}):
        pass
"""


def processor_seconds(run: Callable[[], object]) -> float:
    """Run something that waits for its child; returns the child's user and system seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rounds_in(milliseconds: float) -> int:
    """Find out how many rounds of the loop in a test take so long here."""

    def seconds() -> float:
        start = time.process_time()
        for _ in range(1_000_000):
            pass
        return time.process_time() - start

    return round(milliseconds / 1000 / min(seconds() for _ in range(5)) * 1_000_000)


class Suite:
    """A folder of tests, to be run with the recorder and without."""

    def __init__(self, folder: Path, tests: int, rounds: int) -> None:
        self.folder = folder
        self.tests = max(1, tests // FILES) * FILES
        text = BUSY.format(count=self.tests // FILES, rounds=rounds)
        recording.plant(folder, {f"test_{number}.py": text for number in range(FILES)})

    def pair(self, *, ours_first: bool) -> tuple[float, float]:
        """Measure once without and once with the recorder, in seconds; who comes first is to alternate."""
        if ours_first:
            ours = processor_seconds(self.with_recorder)
            return processor_seconds(self.without), ours
        return processor_seconds(self.without), processor_seconds(self.with_recorder)

    def without(self) -> None:
        """Run pytest alone, with the same arguments; what it prints goes into a pipe here as well."""
        asked = recording.Asked()
        plain = recording.arguments(self.folder, asked)[len(("-p", "paritygate_recorder")) :]
        boot = recording.BOOT.replace("import paritygate_recorder\n", "")
        command = [sys.executable, "-B", "-c", boot, *plain]
        variables = recording.environment(asked, "")
        subprocess.run(command, cwd=self.folder, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)

    def with_recorder(self) -> None:
        """Run pytest with the recorder, whose events are read as the launcher reads them."""
        assert len(recording.record(self.folder).of("test")) == self.tests


def summary(values: Sequence[float], unit: str) -> str:
    """Say the median, how far it can be believed, and how far single values lie apart."""
    dice = random.Random(0)  # noqa: S311 - no secret, and the same figures for the same pairs
    medians = sorted(statistics.median(dice.choices(values, k=len(values))) for _ in range(RESAMPLES))
    low, high = medians[RESAMPLES // 40], medians[-RESAMPLES // 40]
    return f"{statistics.median(values):.3g} {unit} [{low:.3g}, {high:.3g}] (pairs from {min(values):.3g} to {max(values):.3g})"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, default=2000)
    parser.add_argument("--milliseconds", type=float, default=0.0)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--recorder", type=Path, default=recording.PLUGIN_DIRECTORY)
    options = parser.parse_args()
    rounds = rounds_in(options.milliseconds)
    with tempfile.TemporaryDirectory() as name:
        # A copy, so that the recorder is compiled at each start, as it is in a new container.
        shutil.copy(options.recorder / "paritygate_recorder.py", name)
        recording.BOOT = recording.BOOT.replace(str(recording.PLUGIN_DIRECTORY), name)
        large = Suite(Path(name, "large"), options.tests, rounds)
        small = Suite(Path(name, "small"), options.tests // 10, rounds)
        small.pair(ours_first=False)  # to have everything in the caches
        turns = [number % 2 == 1 for number in range(options.pairs)]
        pairs = [(large.pair(ours_first=turn), small.pair(ours_first=turn)) for turn in turns]
    extra = [ours - bare for (bare, ours), _ in pairs]
    extra_small = [ours - bare for _, (bare, ours) in pairs]
    apart = large.tests - small.tests
    least = min(ours for (_, ours), _ in pairs) - min(bare for (bare, _), _ in pairs)
    steps = [(more - less) / apart for more, less in zip(extra, extra_small, strict=True)]
    starts = [less - step * small.tests for less, step in zip(extra_small, steps, strict=True)]
    print(f"{options.pairs} pairs of {large.tests} and {small.tests} tests of {options.milliseconds:g} ms ({rounds} rounds)")
    print("a test, with starting and ending:", summary([one / large.tests * 1e6 for one in extra], "us"))
    print(f"the same by the least of each side: {least / large.tests * 1e6:.3g} us")
    print("of it, each test:", summary([one * 1e6 for one in steps], "us"))
    print("of it, each process:", summary([one * 1e3 for one in starts], "ms"))
    print("of the suite:", summary([(ours - bare) / bare * 100 for (bare, ours), _ in pairs], "%"))


if __name__ == "__main__":
    main()

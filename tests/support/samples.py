"""The sample projects of `tests/samples`: what they expect, how they are laid out, and how the gate is run on them.

A sample is a folder with an `expected.toml` beside its files. What the gate has to say about it is written there, and
nothing here knows any label by itself.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from paritygate.classifier.labels import UNSTABLE
from paritygate.outcomes.artifact import Artifact, Finding
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.words import CauseKind, ExitCode, Label, Outcome, Purpose

SAMPLES = Path(__file__).parent.parent / "samples"
EXPECTED = "expected.toml"
PATIENCE_SECONDS = 900.0
LIGHT = frozenset(
    {
        "all_skipped",
        "always_red",
        "coins_of_three_kinds",
        "crashes_in_one_zone",
        "data_seed",
        "date_boundary",
        "duplicate_ids",
        "expected_failure_flips",
        "hash_of_a_word",
        "ids_differ_by_worker",
        "ids_differ_by_zone",
        "ids_with_addresses",
        "import_fails_in_one_zone",
        "local_time_at_import",
        "on_another_worker",
        "order_taken_for_granted",
        "polluter_and_victim",
        "polluter_two_modules_away",
        "red_in_two_ways",
        "second_of_the_clock",
        "session_parameters",
        "setter_on_another_worker",
        "several_faults",
        "skipped_on_one_side",
        "sorted_by_conftest",
        "state_across_files",
        "subtests_in_one_zone",
        "two_polluters",
    }
)
"""Samples whose labels owe nothing to images: each run of the suite judges them on the computer itself, in a quarter of the time,
and on an engine where all samples are asked for."""
HEAVY = frozenset(
    {
        "fixed_port",
        "hangs_in_one_zone",
        "heavy_addopts",
        "module_renamed_by_case",
        "names_that_collide",
        "session_fixture",
        "shared_temporary_file",
        "src_layout_hatchling",
    }
)
"""Samples that take most of a minute, beside each of which a lighter one shows the like: judged where all are asked for."""
CLOCKED = frozenset({"other_days"})
"""Samples that need a moved clock: images alone have what moves it, and building that takes its time."""


class Setup(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is done to the files on the way to a working tree, paths relative to the sample.

    `ignored` files lie on disk and in .gitignore, `untracked` ones were never added, `renamed` ones are moved on disk after
    the commit. `mismatched` are tracked names that the gate has to report as differing from the disk's. `copies` are files that
    not every checkout of this repository could hold, with the files that they are copies of; `colliding` are names that the
    gate has to report as being one where case does not count.
    """

    ignored: tuple[str, ...] = ()
    untracked: tuple[str, ...] = ()
    renamed: dict[str, str] = {}
    mismatched: tuple[str, ...] = ()
    copies: dict[str, str] = {}
    colliding: tuple[str, ...] = ()


class Expected(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the gate has to say about a sample; every test that is not in `labels` must be consistently green.

    Tests are named by node id, the second of two equal ids as `ID #1`. `outcomes` holds what a test does in each attempt of
    an environment. `causes` are values of `Axis` or `CauseKind`; they are compared for what is coupled or unstable. `polluters`,
    `setters` and `overlapping` are the tests that such a cause names, `ways` and `files` what it holds under these names, and
    `remarks` words that the test's note must contain where causes are looked for. `notes` holds a word that the test's note must
    contain. `controls` are tests that must be there, and consistently green. `normalised` says that ids hold object addresses and
    cannot be named. `spellings` are the names by which a test found files in the first environment, with those that they have.
    """

    about: str
    exit: ExitCode | tuple[ExitCode, ...]
    controls: tuple[str, ...]
    selection: tuple[str, ...] = ()
    labels: dict[str, Label | tuple[Label, ...]] = {}
    outcomes: dict[str, dict[str, Outcome]] = {}
    causes: dict[str, tuple[str, ...]] = {}
    ways: dict[str, tuple[tuple[str, ...], ...]] = {}
    files: dict[str, tuple[str, ...]] = {}
    remarks: dict[str, str] = {}
    polluters: dict[str, tuple[str, ...]] = {}
    setters: dict[str, tuple[str, ...]] = {}
    overlapping: dict[str, tuple[str, ...]] = {}
    notes: dict[str, str] = {}
    spellings: dict[str, dict[str, str]] = {}
    normalised: bool = False
    setup: Setup = Setup()

    def exits(self) -> tuple[ExitCode, ...]:
        """Say which exit codes will do."""
        return self.exit if isinstance(self.exit, tuple) else (self.exit,)

    def allowed(self, test: str) -> tuple[Label, ...]:
        """Say which labels will do for a test."""
        label = self.labels.get(test, Label.CONSISTENT_GREEN)
        return label if isinstance(label, tuple) else (label,)


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate said of a sample: its exit status, all that it printed, and the artifact where it wrote one."""

    status: int
    output: str
    artifact: Artifact | None


def names() -> list[str]:
    """List the samples."""
    return sorted(path.parent.name for path in SAMPLES.glob(f"*/{EXPECTED}"))


def expectation(name: str) -> Expected:
    """Read what a sample expects."""
    return msgspec.toml.decode((SAMPLES / name / EXPECTED).read_bytes(), type=Expected)


def lay_out(name: str, project: Path) -> Expected:
    """Make a git repository of a sample, with the working tree that its expectation asks for."""
    expected = expectation(name)
    shutil.copytree(
        SAMPLES / name, project, symlinks=True, ignore=shutil.ignore_patterns(EXPECTED, "__pycache__", ".pytest_cache")
    )
    for copy, original in expected.setup.copies.items():
        (project / copy).parent.mkdir(exist_ok=True)
        shutil.copyfile(project / original, project / copy)
    if expected.setup.ignored:
        (project / ".gitignore").write_text("".join(f"/{path}\n" for path in expected.setup.ignored), encoding="utf-8")
    git(project, "init", "--quiet", "--initial-branch=main")
    git(project, "add", "--all", "--", ".", *(f":(exclude,top){path}" for path in expected.setup.untracked))
    git(project, "commit", "--quiet", "--message=All that is known")
    for old, new in expected.setup.renamed.items():
        (project / old).rename(project / new)
    return expected


def git(project: Path, *arguments: str) -> None:
    """Run git in the sample's repository alone, whatever repository the caller is in."""
    identity = ("-c", "user.name=Sample", "-c", "user.email=sample@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=project, env=clean_environment(), check=True, timeout=60)


def clean_environment() -> dict[str, str]:
    """Copy this process's environment without what would point git, pytest or the gate elsewhere."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTEST_", "PARITY_"))}


def judge(project: Path, report: Path, *arguments: str, variables: Mapping[str, str] | None = None) -> Judged:
    """Run the gate over a project through its real command line; `variables` are laid over this process's."""
    command = [sys.executable, "-m", "paritygate", "run", "--project", str(project), "--report", str(report), *arguments]
    done = subprocess.run(
        command,
        env=clean_environment() | dict(variables or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
        timeout=PATIENCE_SECONDS,
    )
    artifact = msgspec.json.decode(report.read_bytes(), type=Artifact) if report.exists() else None
    return Judged(status=done.returncode, output=done.stdout, artifact=artifact)


def complaints(expected: Expected, judged: Judged, *, causes: bool = True) -> list[str]:
    """Say everything in which a judgement is not what was expected; of causes only where they were looked for."""
    found = [] if judged.status in expected.exits() else [f"ended {judged.status}, expected {list(map(int, expected.exits()))}"]
    if judged.artifact is None:
        return [*found, "no artifact was written"]
    if judged.artifact.verdict.exit_code != judged.status:
        found.append(f"the artifact says {judged.artifact.verdict.exit_code}, the process ended {judged.status}")
    tests = {title(finding): finding for finding in judged.artifact.tests}
    found += [line for test, names in expected.spellings.items() for line in complaints_about_names(judged.artifact, test, names)]
    found += [f"{test} is not in the artifact" for test in (*expected.labels, *expected.controls) if test not in tests]
    for test, finding in tests.items():
        found += complaints_about(expected, test, finding)
        found += complaints_about_cause(expected, test, finding) if causes else []
    found += [f"{test} is in `controls` and in `labels`" for test in expected.controls if test in expected.labels]
    mismatched = " ".join(judged.artifact.subject.mismatched_names)
    found += [f"{path} is not said to differ on disk" for path in expected.setup.mismatched if path not in mismatched]
    colliding = " ".join(judged.artifact.subject.colliding_names)
    return found + [f"{path} is not said to collide" for path in expected.setup.colliding if path not in colliding]


def complaints_about(expected: Expected, test: str, finding: Finding) -> list[str]:
    """Say in what one test is not what was expected."""
    found = []
    if finding.label not in expected.allowed(test):
        seen = {name: [outcome.value for outcome in each] for name, each in finding.outcomes.items()}
        found.append(f"{test} is {finding.label}, expected {' or '.join(expected.allowed(test))}: {seen}")
    for environment, outcome in expected.outcomes.get(test, {}).items():
        each = finding.outcomes.get(EnvironmentName(environment), ())
        if not each or set(each) != {outcome}:
            found.append(f"{test} is {list(map(str, each))} in {environment}, expected {outcome}")
    if expected.notes.get(test, "") not in finding.note:
        found.append(f"{test} has the note {finding.note!r}, expected {expected.notes[test]!r} in it")
    return found


def complaints_about_cause(expected: Expected, test: str, finding: Finding) -> list[str]:
    """Say in what the cause of a coupling or an instability is not what was expected."""
    wanted = expected.causes.get(test, ())
    if finding.label not in {Label.COUPLING, *UNSTABLE} or not wanted:
        return []
    cause = finding.cause
    found = () if cause is None else cause.axes if cause.kind is CauseKind.AXIS else (cause.kind,)
    why = finding.note if cause is None else cause.detail
    if cause is None or sorted(found) != sorted(wanted):
        return [f"{test} has the cause {' '.join(found) or 'of nothing'}, expected {' '.join(wanted)}: {why}"]
    named = {what: getattr(cause, what) for what in ("polluters", "setters", "overlapping", "ways", "files")}
    named = {what: some for what, some in named.items() if test in getattr(expected, what)}
    complaints = [
        f"{test} has the {what} {some or 'of nobody'}, expected {getattr(expected, what)[test]}: {why}"
        for what, some in named.items()
        if sorted(some) != sorted(getattr(expected, what)[test])
    ]
    if expected.remarks.get(test, "") not in finding.note:
        complaints.append(f"{test} has the note {finding.note!r}, expected {expected.remarks[test]!r} in it")
    return complaints


def complaints_about_names(artifact: Artifact, test: str, names: Mapping[str, str]) -> list[str]:
    """Say in what the names differ that a test found by other names, in each attempt of the first environment."""
    cells = [cell for cell in artifact.cells if cell.env == artifact.environments[0].name and cell.purpose is Purpose.GATE]
    seen = [{each.asked: each.kept for each in run.spellings} for cell in cells for run in cell.tests if run.nodeid == test]
    return [f"{test} found {each}, expected {dict(names)}" for each in seen or [{}] if each != names]


def title(finding: Finding) -> str:
    """Name a test as `expected.toml` does."""
    return f"{finding.nodeid} #{finding.occurrence}" if finding.occurrence else str(finding.nodeid)

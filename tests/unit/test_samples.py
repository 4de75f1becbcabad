"""The sample projects are readable, and cover what they are there for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from paritygate.classifier.labels import UNSTABLE
from paritygate.outcomes.words import Axis, CauseKind, ExitCode, Label
from tests.support import samples


@pytest.mark.parametrize("name", samples.names())
def test_a_sample_says_what_it_is_about_and_expects_nothing_of_files_it_lacks(name: str) -> None:
    expected = samples.expectation(name)
    assert expected.about.endswith((".", "!"))
    files = [test.partition("::")[0] for test in (*expected.labels, *expected.controls)]
    assert [file for file in files if not (samples.SAMPLES / name / file).is_file()] == []
    setup = expected.setup
    moved = (*setup.ignored, *setup.untracked, *setup.renamed, *setup.mismatched)
    assert [path for path in moved if not (samples.SAMPLES / name / path).is_file()] == []


@pytest.mark.parametrize("name", samples.names())
def test_what_a_sample_expects_fits_together(name: str) -> None:
    expected = samples.expectation(name)
    assert set(expected.outcomes) | set(expected.causes) | set(expected.notes) <= set(expected.labels)
    assert set(expected.ways) | set(expected.files) | set(expected.remarks) <= set(expected.causes)
    assert set(expected.polluters) | set(expected.setters) | set(expected.overlapping) <= set(expected.causes)
    assert not set(expected.controls) & set(expected.labels)
    if expected.exit == ExitCode.COUPLING:
        assert Label.COUPLING in expected.labels.values()


def test_the_samples_cover_every_exit_code_of_a_run_and_every_label_that_tests_can_earn() -> None:
    all_expected = [samples.expectation(name) for name in samples.names()]
    assert {code for expected in all_expected for code in expected.exits()} >= {0, 1, 2, 3, 4}
    labels = {label for expected in all_expected for test in expected.labels for label in expected.allowed(test)}
    assert labels == set(Label) - {Label.UNDECIDED, Label.EXCLUDED}


def test_the_samples_cover_the_axes_and_the_kinds_of_instability() -> None:
    causes = {cause for name in samples.names() for each in samples.expectation(name).causes.values() for cause in each}
    assert causes <= {*Axis, *CauseKind}
    assert causes >= {Axis.TIMEZONE, Axis.LOCALE, Axis.WORKERS, Axis.WORKTREE}
    assert causes >= {CauseKind.ORDER, CauseKind.DATA_SEED, CauseKind.HASH_SEED, CauseKind.RACE, CauseKind.CHANCE}


@pytest.mark.parametrize("name", samples.names())
def test_every_sample_with_an_unstable_test_says_the_cause(name: str) -> None:
    expected = samples.expectation(name)
    unstable = [test for test in expected.labels if UNSTABLE & {*expected.allowed(test)}]
    assert [test for test in unstable if test not in expected.causes] == []


def test_a_laid_out_sample_has_the_working_tree_that_it_asks_for(tmp_path: Path) -> None:
    samples.lay_out("ignored_fixture_file", tmp_path / "ignored")
    samples.lay_out("untracked_selection", tmp_path / "untracked")
    samples.lay_out("renamed_by_case", tmp_path / "renamed")
    assert status(tmp_path / "ignored") == ["!! data/rates.json"]
    assert status(tmp_path / "untracked") == ["?? tests/test_new.py"]
    # Whether git calls this a change depends on the disk; what it tracks and what the disk lists does not.
    command = ["git", "ls-files", "data"]
    tracked = subprocess.run(command, cwd=tmp_path / "renamed", capture_output=True, text=True, check=True).stdout.split()
    assert tracked == ["data/Sample.json", "data/other.json"]
    assert sorted(path.name for path in (tmp_path / "renamed" / "data").iterdir()) == ["other.json", "sample.json"]


def status(project: Path) -> list[str]:
    command = ["git", "status", "--porcelain", "--ignored", "--untracked-files=all"]
    environment = samples.clean_environment()
    return subprocess.run(command, cwd=project, env=environment, check=True, capture_output=True, text=True).stdout.splitlines()

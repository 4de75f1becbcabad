"""Sample projects get on this computer itself the labels that they get on an engine, for the axes that it has."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from paritygate.guest import lodging
from paritygate.outcomes.words import Axis
from tests.support import remote_samples, samples

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="cells on the computer itself take Linux")
QUICK = (*sorted(samples.LIGHT), "case_of_a_data_file")
ALL = "PARITYGATE_ALL_ON_HOST"


def chosen() -> list[str]:
    """List the samples to judge: some in every run of the suite, all that can be with `PARITYGATE_ALL_ON_HOST=1`."""
    if not remote_samples.everything(ALL):
        return [*QUICK]
    return remote_samples.judgeable(() if remote_samples.has_locale("en_US.UTF-8") else (Axis.LOCALE,))


@pytest.fixture(scope="module")
def common(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Give the interpreter for samples that take nothing but pytest and its usual plugins, empty for the one that is there."""
    if not remote_samples.everything(ALL):
        return ""
    place = tmp_path_factory.mktemp("common")
    return str(remote_samples.interpreter(place / "venv", place, ()))


def can_fold() -> bool:
    """Say whether this computer lets cells have a filesystem of their own; the report of a run says why not."""
    return (
        shutil.which("cc") is not None
        and os.access("/dev/fuse", os.R_OK | os.W_OK)
        and not lodging.obstacle_to_namespaces(str(Path(lodging.__file__).parent))
    )


@pytest.mark.parametrize("name", chosen())
def test_host_says_of_a_sample_what_an_engine_says(name: str, tmp_path: Path, common: str) -> None:
    if "case" in name and not can_fold():
        pytest.skip("this computer does not let cells have filesystems of their own")
    expected = samples.lay_out(name, tmp_path / "project")
    more = remote_samples.INSTALLED.get(name, ())
    python = str(remote_samples.interpreter(tmp_path / "venv", tmp_path / "project", more)) if more else common
    if python:
        remote_samples.configure(tmp_path / "project", {"host": {"python": python}})
    options = ("--runner", "host", "--explain-budget", remote_samples.budget(), *expected.selection)
    options = options if "case" in name or remote_samples.everything(ALL) else ("--without-axis", "case_sensitive", *options)
    judged = samples.judge(tmp_path / "project", tmp_path / "report.json", *options)
    causes = remote_samples.everything(remote_samples.EXPLAIN)
    assert samples.complaints(expected, judged, causes=causes) == [], judged.output
    assert {each.rpartition(" ")[2] for each in remote_samples.runners(judged)} == {"host"}
    assert judged.artifact is not None
    assert "on host)" in judged.artifact.verdict.line

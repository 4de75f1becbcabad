"""Sample projects get with one environment on another computer the labels that they get on an engine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from paritygate.outcomes.words import Axis
from tests.support import remote_samples, samples
from tests.support.sshd import Sshd, program

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="cells outside of containers take Linux"),
    pytest.mark.skipif(not program(), reason="sshd is not installed"),
]
QUICK = ("polluter_and_victim",)
LACKING = (Axis.CASE_SENSITIVE, Axis.DIRECTORY_ORDER, Axis.LOCALE)
ALL = "PARITYGATE_ALL_ON_SSH"


def chosen() -> list[str]:
    """List the samples to judge: one in every run of the suite, all that can be with `PARITYGATE_ALL_ON_SSH=1`."""
    if not remote_samples.everything(ALL):
        return [*QUICK]
    return remote_samples.judgeable(LACKING)


@pytest.fixture(scope="module")
def common(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the interpreter for samples that take nothing but pytest, and where all are judged its usual plugins."""
    if not remote_samples.everything(ALL):
        return packages / "bin" / "python"
    place = tmp_path_factory.mktemp("common")
    return remote_samples.interpreter(place / "venv", place, ())


@pytest.mark.parametrize("name", chosen())
def test_ssh_says_of_a_sample_what_an_engine_says(name: str, tmp_path: Path, common: Path, kept: Path) -> None:
    expected = samples.lay_out(name, tmp_path / "project")
    more = remote_samples.INSTALLED.get(name, ())
    python = remote_samples.interpreter(tmp_path / "venv", tmp_path / "project", more) if more else common
    there = {"runner": "ssh", "case_sensitive": "any"}
    settings = {"runner": "host", "host": {"python": str(python)}}
    remote_samples.configure(
        tmp_path / "project",
        settings | {"environments": {"local-like": {"case_sensitive": "any"}, "server-like": there}},
    )
    with Sshd(tmp_path / "sshd", kept) as server:
        judged = samples.judge(
            tmp_path / "project",
            tmp_path / "report.json",
            *("--explain-budget", remote_samples.budget(), *expected.selection),
            variables=server.variables,
        )
    causes = remote_samples.everything(remote_samples.EXPLAIN)
    assert samples.complaints(expected, judged, causes=causes) == [], judged.output
    assert remote_samples.runners(judged) == {"local-like host", "server-like ssh"}

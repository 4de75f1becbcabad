"""Whose things may be swept."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from paritygate.docker_engine.owners import Owner, abandoned, owned, started, this_run
from paritygate.docker_engine.requests import DEADLINE_LABEL, KIND_LABEL, OWNER_LABEL, RUN_LABEL

HERE = Owner(place="laptop boot ns", pid=1, started="1")
NOW = 1_000_000.0


def labels_of(owner: Owner, deadline: float = NOW + 60) -> dict[str, str]:
    return {OWNER_LABEL: owner.label(), DEADLINE_LABEL: str(int(deadline))}


def test_what_a_living_process_owns_is_kept_even_past_its_deadline() -> None:
    me = Owner(place=HERE.place, pid=os.getpid(), started=started(os.getpid()))
    assert not abandoned(labels_of(me, NOW - 60), HERE, NOW)


def test_what_a_dead_process_owned_is_swept_before_its_deadline() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = Owner(place=HERE.place, pid=child.pid, started=started(child.pid))
    assert not abandoned(labels_of(owner), HERE, NOW)
    child.communicate()
    assert abandoned(labels_of(owner), HERE, NOW)


def test_a_process_id_that_was_used_again_does_not_keep_anything() -> None:
    mine = Owner(place=HERE.place, pid=os.getpid(), started="another time")
    assert abandoned(labels_of(mine), HERE, NOW)


@pytest.mark.parametrize("place", ["server boot ns", "laptop another-boot ns", "laptop boot another-ns"])
def test_what_is_owned_elsewhere_is_swept_after_its_deadline_only(place: str) -> None:
    elsewhere = Owner(place=place, pid=999_999_999, started="1")
    assert not abandoned(labels_of(elsewhere, NOW + 1), HERE, NOW)
    assert abandoned(labels_of(elsewhere, NOW - 1), HERE, NOW)


@pytest.mark.parametrize("labels", [{}, {OWNER_LABEL: "nonsense"}, {OWNER_LABEL: "{}", DEADLINE_LABEL: "soon"}])
def test_what_cannot_be_read_is_left_alone(labels: dict[str, str]) -> None:
    assert not abandoned(labels, HERE, NOW)


def test_a_run_describes_this_very_process() -> None:
    run = this_run()
    assert run.owner.pid == os.getpid()
    assert run.owner.started == started(os.getpid()) != ""
    assert this_run().identity != run.identity


def test_only_temporary_images_have_an_owner() -> None:
    run = this_run()
    assert owned(run, {KIND_LABEL: "dependencies"}) == {KIND_LABEL: "dependencies"}
    assert owned(run, {KIND_LABEL: "temporary"})[RUN_LABEL] == run.identity

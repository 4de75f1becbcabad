"""Pins in a cell: they yield to its axes unless the run was told to respect them, and the record says which."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.recording import Asked, Recording, plant, record

INI = "[pytest]\nparity_pin = true\naddopts = --strict-config --parity-pin\n"
TEST = """\
    import time

    def test_zone():
        assert time.tzname[0] == {zone!r}
"""
FIXTURE = """\
    import time

    def test_with(pinned_environment):
        assert (time.tzname[0], pinned_environment.get("TZ")) == {wanted!r}

    def test_without():
        assert time.tzname[0] == "JST"
"""
TOKYO = {"TZ": "Asia/Tokyo"}


def pins_of(recording: Recording) -> object:
    return recording.one("collected")["pins"]


@pytest.mark.parametrize("workers", [0, 2])
def test_pins_of_a_suite_yield_to_the_cell(tmp_path: Path, workers: int) -> None:
    plant(tmp_path, {"pytest.ini": INI, "test_a.py": TEST.format(zone="JST")})
    recording = record(tmp_path, Asked(variables=TOKYO, workers=workers))
    assert recording.outcomes == {"test_a.py::test_zone": "passed"}
    assert pins_of(recording) == {"suite": True, "tests": 0, "in_force": False}
    assert "paritygate pins: none, they yield to the axes of this cell" in recording.printed


@pytest.mark.parametrize("workers", [0, 2])
def test_pins_of_a_suite_are_kept_where_they_are_respected_but_for_the_hash_seed(tmp_path: Path, workers: int) -> None:
    plant(tmp_path, {"pytest.ini": INI, "test_a.py": TEST.format(zone="UTC")})
    recording = record(tmp_path, Asked(variables=TOKYO, workers=workers, respect_pins=True, seed=3))
    assert recording.outcomes == {"test_a.py::test_zone": "passed"}
    assert pins_of(recording) == {"suite": True, "tests": 0, "in_force": True}
    assert "paritygate pins: TZ=UTC LC_ALL=C.UTF-8 LANG=C.UTF-8 PYTHONDONTWRITEBYTECODE=1\n" in recording.printed
    assert "paritygate pin not in force: PYTHONHASHSEED=0: the cell's own seed is" in recording.printed


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("respected", [False, True])
def test_so_do_those_of_one_test(tmp_path: Path, workers: int, *, respected: bool) -> None:
    wanted = ("UTC", "UTC") if respected else ("JST", None)
    plant(tmp_path, {"test_a.py": FIXTURE.format(wanted=wanted)})
    recording = record(tmp_path, Asked(variables=TOKYO, workers=workers, respect_pins=respected))
    assert set(recording.outcomes.values()) == {"passed"}, recording.printed
    assert pins_of(recording) == {"suite": False, "tests": 1, "in_force": respected}


@pytest.mark.parametrize("respected", [False, True])
def test_a_suite_may_ask_for_pins_where_paritygate_is_not_installed(tmp_path: Path, *, respected: bool) -> None:
    plant(tmp_path, {"pytest.ini": INI, "test_a.py": TEST.format(zone="JST")})
    recording = record(tmp_path, Asked(variables=TOKYO, respect_pins=respected, arguments=("-p", "no:paritygate")))
    assert recording.outcomes == {"test_a.py::test_zone": "passed"}
    assert pins_of(recording) == {"suite": True, "tests": 0, "in_force": False}

"""Under pytest-xdist: a partition that depends on ids alone, workers that die, and collections that differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.recording import Asked, Recording, plant, record

DEADLY_FIRST = (
    ("test_deadly.py::test_a", 0),
    ("test_deadly.py::test_b", 0),
    *((f"test_other.py::test_{name}", 0) for name in ("one", "two", "three")),
)


def shares(recording: Recording) -> dict[str, set[str]]:
    return {worker: {nodeid for nodeid, _ in tests} for worker, tests in recording.one("partition")["workers"].items()}


def module(*names: str) -> str:
    return "\n".join(f"def test_{name}(): pass" for name in names)


def test_every_worker_says_that_it_is_there(tmp_path: Path) -> None:
    recording = record(plant(tmp_path, {"test_a.py": module("one"), "test_b.py": module("one")}), Asked(workers=2))
    pids = {event["worker"]: event["pid"] for event in recording.of("workers")}
    assert set(pids) == {"gw0", "gw1"}
    assert len(set(pids.values())) == 2
    assert len(recording.of("collected")) == 1


def test_files_stay_whole_the_largest_first_to_the_least_loaded(tmp_path: Path) -> None:
    files = {
        "test_a.py": module("1", "2", "3", "4", "5"),
        "test_b.py": module("1", "2", "3"),
        "test_c.py": module("1", "2"),
    }
    recording = record(plant(tmp_path, files), Asked(workers=2))
    whole = [{nodeid.partition("::")[0] for nodeid in share} for share in shares(recording).values()]
    assert whole == [{"test_a.py"}, {"test_b.py", "test_c.py"}]


def test_the_partition_is_the_same_in_every_attempt_and_is_what_ran(tmp_path: Path) -> None:
    plant(tmp_path, {f"test_{letter}.py": module("1", "2", "3") for letter in "abcdef"})
    first = record(tmp_path, Asked(workers=3))
    second = record(tmp_path, Asked(workers=3, seed=2, order_seed=8))
    assert shares(first) == shares(second)
    for recording in (first, second):
        for worker, tests in recording.one("partition")["workers"].items():
            assert recording.order_of(worker) == [nodeid for nodeid, _ in tests]
    assert first.one("finish")["collected"] == 18


def test_an_xdist_group_shares_one_worker_across_files(tmp_path: Path) -> None:
    text = """
        import pytest

        @pytest.mark.xdist_group("database")
        def test_grouped(): pass

        def test_free(): pass
    """
    plant(tmp_path, {f"test_{letter}.py": text for letter in "abcd"})
    plant(tmp_path, {"pytest.ini": "[pytest]\naddopts = --dist loadgroup"})
    recording = record(tmp_path, Asked(workers=2))
    grouped = {f"test_{letter}.py::test_grouped" for letter in "abcd"}
    assert sum(bool(grouped & share) for share in shares(recording).values()) == 1
    assert set(recording.outcomes) == grouped | {f"test_{letter}.py::test_free" for letter in "abcd"}


def test_more_workers_than_tests_is_fine(tmp_path: Path) -> None:
    recording = record(plant(tmp_path, {"test_a.py": module("one")}), Asked(workers=3))
    assert recording.outcomes == {"test_a.py::test_one": "passed"}
    assert recording.exit == 0


def test_no_tests_at_all_ends_as_without_workers(tmp_path: Path) -> None:
    recording = record(plant(tmp_path, {"test_a.py": ""}), Asked(workers=2))
    assert recording.exit == 5
    assert recording.one("finish")["collected"] == 0


@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), 9)", "__import__('ctypes').string_at(0)"])
def test_a_worker_that_dies_in_a_test_is_replaced_and_only_that_test_is_crashed(tmp_path: Path, end: str) -> None:
    deadly = f"""
        import os
        def test_a(): pass
        def test_b(): {end}
        def test_c(): pass
        def test_d(): pass
    """
    recording = record(plant(tmp_path, {"test_deadly.py": deadly, "test_other.py": module("one", "two")}), Asked(workers=2))
    assert recording.outcomes == {
        "test_deadly.py::test_a": "passed",
        "test_deadly.py::test_b": "crashed",
        "test_deadly.py::test_c": "passed",
        "test_deadly.py::test_d": "passed",
        "test_other.py::test_one": "passed",
        "test_other.py::test_two": "passed",
    }
    planned = [nodeid for nodeid, _ in recording.one("partition")["workers"]["gw0"]]
    assert recording.order_of("gw0") + recording.order_of("gw2") == planned
    assert recording.one("finish")["counts"] == {"passed": 5, "crashed": 1}


def test_a_replacement_takes_over_from_the_dead_and_not_from_one_that_is_done(tmp_path: Path) -> None:
    conftest = """
        import os
        from pathlib import Path

        def pytest_sessionfinish(session):
            if os.environ.get("PYTEST_XDIST_WORKER") == "gw0":
                Path(session.config.rootpath, "done").touch()
    """
    deadly = """
        import os, time
        from pathlib import Path

        def test_a():
            give_up = time.monotonic() + 20
            while not Path("done").exists() and time.monotonic() < give_up:
                time.sleep(0.02)
            time.sleep(0.5)  # until the controller has heard of it
            os._exit(1)

        def test_b(): pass
    """
    files = {"conftest.py": conftest, "test_deadly.py": deadly, "test_other.py": module("one", "two", "three")}
    recording = record(plant(tmp_path, files), Asked(workers=2, exactly=DEADLY_FIRST))
    assert recording.outcomes == {
        "test_deadly.py::test_a": "crashed",
        "test_deadly.py::test_b": "passed",
        **{f"test_other.py::test_{name}": "passed" for name in ("one", "two", "three")},
    }
    assert recording.one("finish")["counts"] == {"passed": 4, "crashed": 1}


def test_both_workers_may_die_at_once(tmp_path: Path) -> None:
    deadly = """
        import os, time
        from pathlib import Path

        def test_a():
            Path(__file__ + ".here").touch()
            give_up = time.monotonic() + 20
            while len(list(Path().glob("*.here"))) < 2 and time.monotonic() < give_up:
                time.sleep(0.001)
            os._exit(1)

        def test_b(): pass
    """
    recording = record(plant(tmp_path, {"test_one.py": deadly, "test_two.py": deadly}), Asked(workers=2))
    assert recording.outcomes == {
        f"test_{name}.py::test_{test}": outcome
        for name in ("one", "two")
        for test, outcome in (("a", "crashed"), ("b", "passed"))
    }


def test_workers_are_not_replaced_without_end(tmp_path: Path) -> None:
    text = """
        import os, pytest

        @pytest.mark.parametrize("number", range(8))
        def test_it(number): os._exit(1)
    """
    recording = record(plant(tmp_path, {"test_it.py": text}), Asked(workers=2))
    assert len(recording.of("test")) == 5
    assert set(recording.outcomes.values()) == {"crashed"}
    assert recording.one("finish")["collected"] == 8


def test_a_test_that_the_launcher_has_timed_out_gets_no_second_outcome(tmp_path: Path) -> None:
    text = """
        import os
        from pathlib import Path

        def test_hangs(stacks):
            Path(stacks, f"paritygate-{os.getpid()}.timed_out").touch()
            os.kill(os.getpid(), 9)

        def test_next(): pass
    """
    conftest = """
        import json, pytest

        @pytest.fixture
        def stacks(request): return json.loads(request.config.workerinput["paritygate"])["stack_directory"]
    """
    recording = record(plant(tmp_path, {"test_it.py": text, "conftest.py": conftest}), Asked(workers=2))
    assert recording.outcomes == {"test_it.py::test_next": "passed"}
    assert "test_it.py::test_hangs" in recording.order
    assert recording.one("finish")["counts"] == {"passed": 1, "timed_out": 1}


def test_a_test_that_only_some_workers_collect_runs_where_it_is(tmp_path: Path) -> None:
    text = """
        import os, pytest

        @pytest.mark.parametrize("who", ["all", os.environ["PYTEST_XDIST_WORKER"]])
        def test_it(who): pass
    """
    recording = record(plant(tmp_path, {"test_it.py": text}), Asked(workers=2))
    assert recording.outcomes == {
        "test_it.py::test_it[all]": "passed",
        "test_it.py::test_it[gw0]": "passed",
        "test_it.py::test_it[gw1]": "passed",
    }
    partition = recording.one("partition")
    assert sorted(partition["uneven"]) == [["test_it.py::test_it[gw0]", 0], ["test_it.py::test_it[gw1]", 0]]
    assert recording.order_of("gw1")[-1] == "test_it.py::test_it[gw1]"


def test_a_worker_that_dies_after_its_last_test_costs_no_outcome(tmp_path: Path) -> None:
    conftest = """
        import os

        def pytest_sessionfinish(session):
            if os.environ.get("PYTEST_XDIST_WORKER") == "gw0":
                os._exit(1)
    """
    plant(tmp_path, {"test_a.py": module("1", "2"), "test_b.py": module("1", "2"), "conftest.py": conftest})
    recording = record(tmp_path, Asked(workers=2))
    assert set(recording.outcomes.values()) == {"passed"}
    assert len(recording.outcomes) == 4


def test_shares_that_are_asked_for_are_what_each_worker_runs_in_that_order_and_nothing_else(tmp_path: Path) -> None:
    plant(tmp_path, {"test_a.py": module("1", "2", "3"), "test_b.py": module("1", "2")})
    asked = {
        "gw0": (("test_b.py::test_2", 0), ("test_a.py::test_1", 0)),
        "gw1": (("test_a.py::test_3", 0), ("test_a.py::test_2", 0)),
    }
    recording = record(tmp_path, Asked(workers=2, shares=asked))
    assert {worker: recording.order_of(worker) for worker in asked} == {
        worker: [nodeid for nodeid, _ in tests] for worker, tests in asked.items()
    }
    assert len(recording.outcomes) == 4


def test_a_share_of_one_worker_leaves_the_others_without_work(tmp_path: Path) -> None:
    plant(tmp_path, {"test_a.py": module("1", "2")})
    recording = record(tmp_path, Asked(workers=2, shares={"gw1": (("test_a.py::test_2", 0),)}))
    assert (recording.order_of("gw0"), recording.order_of("gw1")) == ([], ["test_a.py::test_2"])
    assert recording.exit == 0

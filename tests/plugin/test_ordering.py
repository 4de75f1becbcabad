"""Tests run in an order that depends on ids alone, and every second attempt runs it the other way round."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.recording import Asked, Recording, plant, record

MODULE = """
    class TestOne:
        def test_a(self): pass
        def test_b(self): pass
        def test_c(self): pass

    class TestTwo:
        def test_a(self): pass
        def test_b(self): pass

    def test_a(): pass
    def test_b(): pass
    def test_c(): pass
"""
SESSION_PARAMETERS = """
    import pytest

    @pytest.fixture(scope="session", params=["small", "large"])
    def size(request): return request.param

    def test_a(size): pass
    def test_b(size): pass
    def test_c(): pass
    def test_d(size): pass
"""


def both_ways(tree: Path, workers: int = 0) -> tuple[Recording, Recording]:
    return record(tree, Asked(workers=workers)), record(tree, Asked(workers=workers, reversed=True))


def places(recording: Recording) -> list[str]:
    """Say which file and class each test stands in, each change once."""
    stands = [nodeid.rpartition("::")[0] for nodeid in recording.order]
    return [stand for index, stand in enumerate(stands) if index == 0 or stand != stands[index - 1]]


def test_files_and_classes_stay_together(tmp_path: Path) -> None:
    recording = record(plant(tmp_path, {"test_x.py": MODULE, "test_y.py": MODULE, "sub/test_z.py": MODULE}))
    files = [place.partition("::")[0] for place in places(recording)]
    assert len(dict.fromkeys(files)) == len([1 for index, file in enumerate(files) if index == 0 or file != files[index - 1]])
    classes = [place for place in places(recording) if "::" in place]
    assert len(classes) == len(set(classes)) == 6


def test_the_order_is_the_seeds_and_the_data_seed_has_no_part_in_it(tmp_path: Path) -> None:
    plant(tmp_path, {"test_x.py": MODULE, "test_y.py": MODULE})
    seven = record(tmp_path, Asked(order_seed=7, seed=1)).order
    assert record(tmp_path, Asked(order_seed=7, seed=2)).order == seven
    assert record(tmp_path, Asked(order_seed=8, seed=1)).order != seven


def test_a_subset_keeps_the_common_order(tmp_path: Path) -> None:
    plant(tmp_path, {"test_x.py": MODULE, "test_y.py": MODULE})
    whole = record(tmp_path).order
    part = record(tmp_path, Asked(arguments=("-k", "test_a"))).order
    assert part == [nodeid for nodeid in whole if nodeid.endswith("test_a")]
    (tmp_path / "test_x.py").unlink()
    assert record(tmp_path).order == [nodeid for nodeid in whole if nodeid.startswith("test_y.py")]


@pytest.mark.parametrize("text", [MODULE, SESSION_PARAMETERS], ids=["plain", "session-parameters"])
def test_the_second_attempt_is_the_exact_reverse_of_the_first(tmp_path: Path, text: str) -> None:
    first, second = both_ways(plant(tmp_path, {"test_x.py": text, "sub/test_y.py": text}))
    assert second.order == first.order[::-1]
    assert second.one("collected")["tests"] == first.one("collected")["tests"][::-1]


@pytest.mark.parametrize("text", [MODULE, SESSION_PARAMETERS], ids=["plain", "session-parameters"])
def test_each_worker_runs_its_part_in_reverse(tmp_path: Path, text: str) -> None:
    first, second = both_ways(plant(tmp_path, {"test_x.py": text, "test_y.py": text, "test_z.py": text}), workers=2)
    for worker in ("gw0", "gw1"):
        assert first.order_of(worker)
        assert second.order_of(worker) == first.order_of(worker)[::-1]


def test_groups_that_a_conftest_sorts_stand_and_are_reversed_inside(tmp_path: Path) -> None:
    conftest = """
        def pytest_collection_modifyitems(items):
            items.sort(key=lambda item: "slow" in item.name)
    """
    text = """
        def test_a(): pass
        def test_slow_b(): pass
        def test_c(): pass
        def test_slow_d(): pass
        def test_e(): pass
        def test_slow_f(): pass
    """
    first, second = both_ways(plant(tmp_path, {"test_x.py": text, "conftest.py": conftest}))
    assert ["slow" in nodeid for nodeid in second.order] == [False] * 3 + [True] * 3
    assert second.order == first.order[:3][::-1] + first.order[3:][::-1]


def test_a_conftest_met_during_collection_cannot_have_the_last_word(tmp_path: Path) -> None:
    shuffling = """
        import random, pytest

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_collection_modifyitems(items):
            items.sort(key=lambda item: item.nodeid)
            yield
    """
    plant(tmp_path, {"test_x.py": MODULE, "deep/er/conftest.py": shuffling, "deep/er/test_y.py": MODULE})
    exactly = (("deep/er/test_y.py::test_b", 0), ("test_x.py::test_c", 0), ("deep/er/test_y.py::test_a", 0))
    assert record(tmp_path, Asked(exactly=exactly)).order == [nodeid for nodeid, _ in exactly]


@pytest.mark.parametrize("workers", [0, 2])
def test_an_exact_order_is_run_as_given_and_nothing_else(tmp_path: Path, workers: int) -> None:
    plant(tmp_path, {"test_x.py": SESSION_PARAMETERS})
    exactly = (
        ("test_x.py::test_d[large]", 0),
        ("test_x.py::test_a[small]", 0),
        ("test_x.py::test_gone", 0),
        ("test_x.py::test_b[large]", 0),
        ("test_x.py::test_c", 0),
    )
    recording = record(tmp_path, Asked(exactly=exactly, workers=workers))
    assert recording.order == [nodeid for nodeid, _ in exactly if "gone" not in nodeid]
    assert recording.one("collected")["deselected"] == 3


def test_only_leaves_the_others_out_and_keeps_the_order(tmp_path: Path) -> None:
    plant(tmp_path, {"test_x.py": MODULE})
    whole = record(tmp_path).order
    only = (("test_x.py::test_b", 0), ("test_x.py::TestOne::test_c", 0), ("test_x.py::TestTwo::test_a", 0))
    wanted = {nodeid for nodeid, _ in only}
    assert record(tmp_path, Asked(only=only)).order == [nodeid for nodeid in whole if nodeid in wanted]


def test_addresses_in_an_exact_order_match_whatever_they_were(tmp_path: Path) -> None:
    text = """
        import pytest

        class Thing: pass

        @pytest.mark.parametrize("thing", [Thing(), Thing()], ids=repr)
        def test_thing(thing): pass
    """
    plant(tmp_path, {"test_it.py": text})
    exactly = (("test_it.py::test_thing[<test_it.Thing object at 0x7f00deadbeef>]", 1),)
    event = record(tmp_path, Asked(exactly=exactly)).one("test")
    assert (event["nodeid"], event["occurrence"]) == ("test_it.py::test_thing[<test_it.Thing object at 0x...>]", 1)


@pytest.mark.parametrize("mirrored", [False, True])
def test_tests_that_depend_on_each_other_keep_their_own_order(tmp_path: Path, mirrored: bool) -> None:  # noqa: FBT001 - a parameter
    text = """
        import pytest
        pytestmark = pytest.mark.filterwarnings("default")

        def test_a(): pass

        @pytest.mark.dependency
        def test_d1(): pass

        @pytest.mark.dependency
        def test_d2(): pass

        def test_b(): pass

        @pytest.mark.dependency
        def test_d3(): pass
    """
    plant(tmp_path, {"test_x.py": text, "pytest.ini": "[pytest]\nmarkers = dependency"})
    order = record(tmp_path, Asked(reversed=mirrored)).order
    assert [nodeid[-2:] for nodeid in order if "_d" in nodeid] == ["d1", "d2", "d3"]


@pytest.mark.parametrize("workers", [0, 2])
def test_excluded_tests_are_not_run_and_listed_with_their_reason(tmp_path: Path, workers: int) -> None:
    text = """
        import pytest

        @pytest.mark.parity_exclude(reason="needs a GPU")
        def test_gpu(): assert 0

        @pytest.mark.parity_exclude("needs a scanner")
        class TestScanner:
            def test_it(self): assert 0

        def test_fine(): pass
    """
    plant(tmp_path, {"test_x.py": text, "pytest.ini": "[pytest]\naddopts = --strict-markers -W error"})
    recording = record(tmp_path, Asked(workers=workers))
    assert recording.outcomes == {"test_x.py::test_fine": "passed"}
    assert recording.one("collected")["excluded"] == {
        "test_x.py::test_gpu": "needs a GPU",
        "test_x.py::TestScanner::test_it": "needs a scanner",
    }
    assert recording.one("collected")["deselected"] == 0


@pytest.mark.parametrize("workers", [0, 2])
def test_an_exclusion_without_a_reason_is_an_error_that_names_the_test(tmp_path: Path, workers: int) -> None:
    text = """
        import pytest

        @pytest.mark.parity_exclude
        def test_gpu(): pass
    """
    recording = record(plant(tmp_path, {"test_x.py": text}), Asked(workers=workers))
    assert recording.exit == 4
    assert "`test_x.py::test_gpu` is marked `parity_exclude` without saying why" in recording.printed
    assert recording.of("test") == []

"""What a project's own options would do to comparability is switched off, option by option, and said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.recording import Asked, plant, record

TWO_FAIL = "\n".join(f"def test_{number}(): assert {number} % 2" for number in range(4))
ALL_RUN = {
    "test_it.py::test_0": "failed",
    "test_it.py::test_1": "passed",
    "test_it.py::test_2": "failed",
    "test_it.py::test_3": "passed",
}


def with_options(tree: Path, options: str) -> Path:
    return plant(tree, {"test_it.py": TWO_FAIL, "pytest.ini": f"[pytest]\naddopts = {options}\n"})


@pytest.mark.parametrize("workers", [0, 2])
def test_stopping_early_and_workers_of_the_projects_own(tmp_path: Path, workers: int) -> None:
    recording = record(with_options(tmp_path, "-n auto -xq --lf --dist loadscope"), Asked(workers=workers))
    assert recording.outcomes == ALL_RUN
    assert recording.one("neutralised")["what"] == [
        "`-x/--maxfail` is off",
        "`--last-failed` is off",
        f"`-n auto` is replaced by {workers} workers",
        "`--dist loadscope` is set aside: workers share the tests out by file",
    ]
    assert len(recording.of("workers")) == (workers or 1)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("--dist=load", "`--dist load` is set aside: workers share the tests out by file"),
        ("--dist=worksteal", "`--dist worksteal` is set aside: workers share the tests out by file"),
        ("-d", "`-d` is set aside: workers share the tests out by file"),
        ("--maxprocesses=1", "`--maxprocesses 1` is set aside: workers share the tests out by file"),
        ("--max-worker-restart=0", "`--max-worker-restart 0` is set aside"),
        ("-x", "`-x/--maxfail` is off"),
        ("-pno:xdist", "`-p no:xdist` is overridden"),
        ("-pno:randomly", "`-p no:randomly` is overridden"),
    ],
)
def test_what_the_user_gives_is_set_aside_and_said(tmp_path: Path, given: str, said: str, workers: int) -> None:
    recording = record(plant(tmp_path, {"test_it.py": TWO_FAIL}), Asked(workers=workers, given=(given,)))
    assert recording.outcomes == ALL_RUN
    assert recording.one("neutralised")["what"] == [said]
    assert len(recording.of("workers")) == (workers or 1)


@pytest.mark.parametrize("given", [("-n2",), ("--dist=no",), ("--tx=popen", "--tx=popen")])
def test_what_asks_for_what_there_is_anyway_is_not_worth_a_word(tmp_path: Path, given: tuple[str, ...]) -> None:
    recording = record(plant(tmp_path, {"test_it.py": TWO_FAIL}), Asked(workers=2, given=given))
    assert recording.outcomes == ALL_RUN
    assert recording.of("neutralised") == []


def test_a_scheduler_that_a_conftest_sets_is_set_aside_and_said(tmp_path: Path) -> None:
    conftest = """
        def pytest_configure(config):
            config.option.dist = "loadgroup"
    """
    recording = record(plant(tmp_path, {"test_it.py": TWO_FAIL, "conftest.py": conftest}), Asked(workers=2))
    assert recording.outcomes == ALL_RUN
    said = "`--dist loadgroup` is set aside: workers share the tests out by file"
    assert recording.one("neutralised")["what"] == [said]


def test_what_a_conftest_sets_is_switched_off_too(tmp_path: Path) -> None:
    conftest = """
        def pytest_configure(config):
            config.option.maxfail = 1

        def pytest_cmdline_main(config):
            config.option.stepwise = True
    """
    plant(tmp_path, {"test_it.py": TWO_FAIL, "conftest.py": conftest})
    recording = record(tmp_path)
    assert recording.outcomes == ALL_RUN


def test_plugins_that_the_project_blocks_are_there_all_the_same(tmp_path: Path) -> None:
    text = """
        import random
        def test_seeded(): assert random.random() == random.Random(0).random() or True
        def test_plugin(request): assert request.config.pluginmanager.hasplugin("xdist")
    """
    plant(tmp_path, {"test_it.py": text, "pytest.ini": "[pytest]\naddopts = -p no:randomly -p no:xdist"})
    recording = record(tmp_path, Asked(workers=2))
    assert recording.outcomes == {"test_it.py::test_seeded": "passed", "test_it.py::test_plugin": "passed"}
    assert recording.one("neutralised")["what"] == ["`-p no:randomly` is overridden", "`-p no:xdist` is overridden"]


@pytest.mark.parametrize("workers", [0, 2])
def test_it_works_where_plugins_are_not_loaded_by_themselves(tmp_path: Path, workers: int) -> None:
    variables = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "--maxfail=2"}
    recording = record(plant(tmp_path, {"test_it.py": TWO_FAIL}), Asked(workers=workers, variables=variables))
    assert recording.outcomes == ALL_RUN
    assert recording.one("neutralised")["what"] == ["`-x/--maxfail` is off"]


@pytest.mark.parametrize("workers", [0, 2])
def test_warnings_as_errors_and_strictness_find_nothing_of_ours(tmp_path: Path, workers: int) -> None:
    options = "-W error --strict-markers --strict-config"
    recording = record(with_options(tmp_path, options), Asked(workers=workers))
    assert recording.outcomes == ALL_RUN
    assert recording.of("neutralised") == []
    assert "warnings summary" not in recording.printed
    assert "Error" not in recording.printed.replace("AssertionError", "")


def test_order_and_data_are_seeded_where_randomly_is_not_there(tmp_path: Path) -> None:
    plant(tmp_path, {"test_it.py": TWO_FAIL, "pytest.ini": "[pytest]\naddopts = -p no:randomly"})
    recording = record(tmp_path, Asked(plugins=("xdist",)))
    assert recording.outcomes == ALL_RUN

"""The record survives what tests do to the process they run in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.recording import Asked, plant, record


@pytest.mark.parametrize("arguments", [(), ("-s",)], ids=["captured", "not-captured"])
def test_descriptors_closed_and_replaced(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    text = """
        import os, sys

        def test_closes():
            os.close(2)
            os.close(0)

        def test_redirects():
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, 1)
            os.dup2(nothing, 2)

        def test_prints_what_looks_like_an_event():
            os.write(1, b'{"n": "5eed", "e": "test", "nodeid": "test_it.py::test_forged", "outcome": "passed"}\\n')

        def test_finds_no_descriptor():
            for number in range(3, 64):
                try:
                    os.write(number, b'{"forged": true}\\n')
                except OSError:
                    pass

        def test_environment(): assert "PARITYGATE_RECORDER" not in os.environ
    """
    recording = record(plant(tmp_path, {"test_it.py": text}), Asked(arguments=arguments))
    assert recording.outcomes == {
        "test_it.py::test_closes": "passed",
        "test_it.py::test_redirects": "passed",
        "test_it.py::test_prints_what_looks_like_an_event": "passed",
        "test_it.py::test_finds_no_descriptor": "passed",
        "test_it.py::test_environment": "passed",
    }


def test_the_standard_library_replaced(tmp_path: Path) -> None:
    text = """
        import json, os, time

        def broken(*args, **kwargs): raise OSError("replaced")

        def test_replaces():
            os.write = os.getpid = json.dumps = json.JSONEncoder.encode = broken
            time.perf_counter = time.time = lambda: -1.0

        def test_after(): pass
    """
    exactly = (("test_it.py::test_replaces", 0), ("test_it.py::test_after", 0))
    recording = record(plant(tmp_path, {"test_it.py": text}), Asked(exactly=exactly, arguments=("-p", "no:cacheprovider")))
    assert recording.outcomes == {"test_it.py::test_replaces": "passed", "test_it.py::test_after": "passed"}
    assert all(event["seconds"] >= 0 for event in recording.of("test"))


def test_a_closed_pipe_is_not_taken_for_a_file_that_has_its_number(tmp_path: Path) -> None:
    text = """
        import os

        def test_closes_everything():
            os.closerange(100, 2000)
            held = [os.open("victim.txt", os.O_CREAT | os.O_RDWR) for _ in range(600)]
            os.write(held[0], b"mine")

        def test_after(): pass
    """
    exactly = (("test_it.py::test_closes_everything", 0), ("test_it.py::test_after", 0))
    record(plant(tmp_path, {"test_it.py": text}), Asked(exactly=exactly))
    assert (tmp_path / "victim.txt").read_text() == "mine"


@pytest.mark.parametrize("workers", [0, 2])
def test_a_forked_child_that_returns_from_its_test_ends_there(tmp_path: Path, workers: int) -> None:
    text = """
        import os, pytest

        def test_forks():
            pid = os.fork()
            if pid == 0:
                return
            assert os.waitpid(pid, 0)[1] == 0

        def test_forks_and_fails():
            pid = os.fork()
            assert pid
            assert os.WEXITSTATUS(os.waitpid(pid, 0)[1]) == 1

        def test_forks_and_leaves():
            pid = os.fork()
            if pid == 0:
                pytest.exit("child")
            assert os.WEXITSTATUS(os.waitpid(pid, 0)[1]) == 1

        @pytest.fixture
        def forking():
            pid = os.fork()
            if pid:
                os.waitpid(pid, 0)
            yield
            pid = os.fork()
            if pid:
                os.waitpid(pid, 0)

        def test_fixture_forks(forking): pass

        def test_after(): pass
    """
    recording = record(plant(tmp_path, {"test_it.py": text}), Asked(workers=workers))
    assert recording.outcomes == {
        "test_it.py::test_forks": "passed",
        "test_it.py::test_forks_and_fails": "passed",
        "test_it.py::test_forks_and_leaves": "passed",
        "test_it.py::test_fixture_forks": "passed",
        "test_it.py::test_after": "passed",
    }
    assert len(recording.of("finish")) == 1


def test_children_do_not_hold_the_pipe(tmp_path: Path) -> None:
    text = """
        import subprocess, sys

        def test_starts_a_daemon():
            code = "import os; print(sorted(os.listdir('/proc/self/fd'), key=int))"
            listed = subprocess.run([sys.executable, "-c", code], close_fds=False, capture_output=True, text=True).stdout
            assert "'512'" not in listed
    """
    assert record(plant(tmp_path, {"test_it.py": text})).outcomes == {"test_it.py::test_starts_a_daemon": "passed"}


def test_a_death_leaves_the_name_of_the_test_and_no_last_word(tmp_path: Path) -> None:
    recording = record(plant(tmp_path, {"test_it.py": "import os\ndef test_dies(): os._exit(0)"}))
    assert recording.exit == 0
    assert recording.events[-1]["e"] == "test-start"
    assert recording.events[-1]["nodeid"] == "test_it.py::test_dies"


def test_a_death_in_the_second_test_leaves_the_outcome_of_the_first(tmp_path: Path) -> None:
    text = "import os\ndef test_passes(): pass\ndef test_dies(): os.kill(os.getpid(), 9)"
    exactly = (("test_it.py::test_passes", 0), ("test_it.py::test_dies", 0))
    recording = record(plant(tmp_path, {"test_it.py": text}), Asked(exactly=exactly))
    assert recording.outcomes == {"test_it.py::test_passes": "passed"}
    assert recording.order == ["test_it.py::test_passes", "test_it.py::test_dies"]


def test_a_death_between_two_tests_in_a_plugin_around_them_is_no_tests_death(tmp_path: Path) -> None:
    conftest = """
        import os, pytest

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_protocol():
            yield
            os._exit(0)
    """
    text = "def test_a(): pass\ndef test_b(): pass\n"
    recording = record(plant(tmp_path, {"sub/test_it.py": text, "sub/conftest.py": conftest}))  # found after the recorder
    assert recording.events[-1]["e"] == "test"
    assert list(recording.outcomes.values()) == ["passed"]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_process_shows_where_it_stands_when_the_launcher_asks(tmp_path: Path, workers: int) -> None:
    text = """
        import os, signal, time
        from pathlib import Path

        def test_stuck(stacks):
            os.kill(os.getpid(), signal.SIGRTMIN + 11)
            text = Path(stacks, f"paritygate-{os.getpid()}.stack").read_text()
            assert "in test_stuck" in text
    """
    conftest = """
        import json, pytest

        @pytest.fixture
        def stacks(request):
            if hasattr(request.config, "workerinput"):
                return json.loads(request.config.workerinput["paritygate"])["stack_directory"]
            return request.config.pluginmanager.get_plugin("paritygate-recorder")._settings.stack_directory
    """
    recording = record(plant(tmp_path, {"test_it.py": text, "conftest.py": conftest}), Asked(workers=workers))
    assert recording.outcomes == {"test_it.py::test_stuck": "passed"}

"""What is said of a failure: what it was, where it was, and a fingerprint that outlives values and edits elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.recording import Asked, plant, record


def failure_in(tree: Path, text: str, name: str = "test_it.py::test_it") -> dict[str, Any]:
    found = record(plant(tree, {"test_it.py": text})).test(name)["failure"]
    assert isinstance(found, dict)
    return found


def test_an_assertion_is_described_by_kind_message_and_place(tmp_path: Path) -> None:
    files = {
        "test_it.py": "from helping import check\ndef test_it():\n    check(3)\n",
        "helping.py": "def check(value):\n    assert value == 4, 'not four'\n",
    }
    failure = record(plant(tmp_path, files)).test("test_it.py::test_it")["failure"]
    assert failure["phase"] == "call"
    assert failure["exception"] == "AssertionError"
    assert failure["message"].startswith("not four")
    assert (failure["file"], failure["line"]) == ("helping.py", 2)
    assert failure["source"] == "assert value == 4, 'not four'"
    assert "def check(value)" in failure["text"]


def test_an_exception_from_a_library_is_placed_where_the_tree_called_it(tmp_path: Path) -> None:
    failure = failure_in(tmp_path, "import json\n\ndef test_it():\n    json.loads('{')\n")
    assert failure["exception"] == "json.decoder.JSONDecodeError"
    assert (failure["file"], failure["line"]) == ("test_it.py", 4)


def test_the_fingerprint_outlives_values_and_moves(tmp_path: Path) -> None:
    first = failure_in(tmp_path, "import os\ndef test_it():\n    assert os.getpid() == 0\n")
    moved = failure_in(tmp_path, "import os\n\n\n# moved\ndef test_it():\n    assert  os.getpid() == 0\n")
    other = failure_in(tmp_path, "import os\ndef test_it():\n    assert os.getppid() == 0\n")
    assert first["message"] != moved["message"]
    assert first["line"] != moved["line"]
    assert first["fingerprint"] == moved["fingerprint"] != other["fingerprint"]


def test_an_exception_that_cannot_say_itself_is_reported_all_the_same(tmp_path: Path) -> None:
    text = """
        class Silent(Exception):
            def __str__(self): raise SystemExit(3)
            __repr__ = __str__

        def test_it(): raise Silent
    """
    failure = failure_in(tmp_path, text)
    assert failure["exception"] == "test_it.Silent"
    assert failure["message"] == "<its text could not be made>"


def test_failures_without_a_traceback_are_described(tmp_path: Path) -> None:
    text = '''
        import pytest

        def test_quiet(): pytest.fail("said without a trace", pytrace=False)

        def test_lacking(nothing_like_it): pass

        @pytest.mark.xfail(strict=True, reason="since 1970")
        def test_strict(): pass

        def documented():
            """
            >>> 1 + 1
            3
            """
    '''
    recording = record(plant(tmp_path, {"test_it.py": text}), Asked(arguments=("--doctest-modules",)))
    failures = {event["nodeid"].rpartition("::")[2]: event["failure"] for event in recording.of("test")}
    assert failures["test_quiet"]["message"] == "said without a trace"
    assert (failures["test_quiet"]["file"], failures["test_quiet"]["line"]) == ("test_it.py", 4)
    assert failures["test_lacking"]["message"] == "fixture 'nothing_like_it' not found"
    assert (failures["test_lacking"]["phase"], failures["test_lacking"]["file"]) == ("setup", "test_it.py")
    assert failures["test_strict"]["message"] == "[XPASS(strict)] since 1970"
    doctest = failures["test_it.documented"]
    assert (doctest["message"], doctest["file"], doctest["line"]) == (r"expected '3\n', got '2\n'", "test_it.py", 13)


def test_long_texts_lose_their_middle(tmp_path: Path) -> None:
    text = """
        def test_it():
            print("begin" + "o" * 50_000 + "end")
            raise ValueError("first" + "m" * 50_000 + "last")
    """
    event = record(plant(tmp_path, {"test_it.py": text})).test("test_it.py::test_it")
    assert len(event["failure"]["message"]) == 500
    assert 20_000 <= len(event["failure"]["text"]) < 20_100
    assert "characters left out" in event["failure"]["text"]
    assert 8_000 <= len(event["output"]) < 8_100
    assert event["output"].startswith("--- Captured stdout call ---\nbegin")


def test_output_of_every_phase_comes_once(tmp_path: Path) -> None:
    text = """
        import pytest

        @pytest.fixture
        def noisy():
            print("set up")
            yield
            print("torn down")

        def test_it(noisy):
            print("ran")
            assert 0
    """
    event = record(plant(tmp_path, {"test_it.py": text})).test("test_it.py::test_it")
    assert [line for line in event["output"].splitlines() if line in ("set up", "ran", "torn down")] == [
        "set up",
        "ran",
        "torn down",
    ]


def test_lone_surrogates_and_values_that_xdist_cannot_send_do_not_end_a_worker(tmp_path: Path) -> None:
    text = r"""
        def test_it(record_property):
            record_property("thing", object())
            raise ValueError("\ud800")

        def test_fine(record_property):
            record_property("thing", object())
    """
    recording = record(plant(tmp_path, {"test_it.py": text}), Asked(workers=2))
    assert recording.outcomes == {"test_it.py::test_it": "failed", "test_it.py::test_fine": "passed"}
    assert recording.test("test_it.py::test_it")["failure"]["message"] == "\ud800"

"""Every kind of outcome becomes one event with the right word, whatever reports pytest makes of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.recording import BOOT, Asked, plant, record

EVERY_KIND = '''
    import unittest
    import pytest

    def test_passes(): pass

    def test_fails():
        x = 3
        assert x == 4

    @pytest.mark.skip(reason="not today")
    def test_is_skipped(): pass

    def test_skips_inside():
        pytest.skip("found out late")

    @pytest.fixture
    def skipping():
        pytest.skip("no database")

    def test_skipped_by_fixture(skipping): pass

    @pytest.mark.xfail(reason="known bug")
    def test_xfails(): assert 0

    def test_xfails_inside(): pytest.xfail("gave up")

    @pytest.mark.xfail(run=False, reason="hangs")
    def test_is_not_run(): pass

    @pytest.mark.xfail(reason="known bug")
    def test_xpasses(): pass

    @pytest.mark.xfail(reason="known bug", strict=True)
    def test_xpasses_strictly(): pass

    @pytest.fixture
    def broken_setup():
        raise RuntimeError("no setup")

    def test_setup_breaks(broken_setup): pass

    @pytest.fixture
    def broken_teardown():
        yield
        raise ValueError("no teardown")

    def test_teardown_breaks(broken_teardown): pass

    def test_fails_and_teardown_breaks(broken_teardown):
        raise KeyError("first")

    def test_lacks_fixture(nothing_like_it): pass

    def test_leaves(): raise SystemExit(0)

    class TestUnit(unittest.TestCase):
        def test_passes(self): pass

        def test_fails(self): self.assertEqual(1, 2)

        def test_skips(self): self.skipTest("not on this machine")

        @unittest.expectedFailure
        def test_fails_as_expected(self): self.fail()

        @unittest.expectedFailure
        def test_succeeds_unexpectedly(self): pass

    def documented():
        """
        >>> 1 + 1
        2
        """

    def wrongly_documented():
        """
        >>> 1 + 1
        3
        """
'''
EXPECTED = {
    "test_it.py::test_passes": "passed",
    "test_it.py::test_fails": "failed",
    "test_it.py::test_is_skipped": "skipped",
    "test_it.py::test_skips_inside": "skipped",
    "test_it.py::test_skipped_by_fixture": "skipped",
    "test_it.py::test_xfails": "xfailed",
    "test_it.py::test_xfails_inside": "xfailed",
    "test_it.py::test_is_not_run": "xfailed",
    "test_it.py::test_xpasses": "xpassed",
    "test_it.py::test_xpasses_strictly": "failed",
    "test_it.py::test_setup_breaks": "error",
    "test_it.py::test_teardown_breaks": "error",
    "test_it.py::test_fails_and_teardown_breaks": "failed",
    "test_it.py::test_lacks_fixture": "error",
    "test_it.py::test_leaves": "failed",
    "test_it.py::TestUnit::test_passes": "passed",
    "test_it.py::TestUnit::test_fails": "failed",
    "test_it.py::TestUnit::test_skips": "skipped",
    "test_it.py::TestUnit::test_fails_as_expected": "xfailed",
    "test_it.py::TestUnit::test_succeeds_unexpectedly": "failed",
    "test_it.py::test_it.documented": "passed",
    "test_it.py::test_it.wrongly_documented": "failed",
}
REASONS = {
    "test_it.py::test_is_skipped": "not today",
    "test_it.py::test_skips_inside": "found out late",
    "test_it.py::test_skipped_by_fixture": "no database",
    "test_it.py::test_xfails": "known bug",
    "test_it.py::test_xfails_inside": "gave up",
    "test_it.py::test_is_not_run": "[NOTRUN] hangs",
    "test_it.py::test_xpasses": "known bug",
    "test_it.py::TestUnit::test_skips": "not on this machine",
}


@pytest.mark.parametrize("workers", [0, 2])
def test_every_kind_of_outcome_has_its_word_and_its_reason(tmp_path: Path, workers: int) -> None:
    plant(tmp_path, {"test_it.py": EVERY_KIND, "test_other.py": "def test_other(): pass"})
    recording = record(tmp_path, Asked(workers=workers, arguments=("--doctest-modules",)))
    assert recording.outcomes == {**EXPECTED, "test_other.py::test_other": "passed"}
    assert {event["nodeid"]: event["reason"] for event in recording.of("test") if event["reason"]} == REASONS
    red = {nodeid for nodeid, outcome in EXPECTED.items() if outcome in ("failed", "error")}
    assert {event["nodeid"] for event in recording.of("test") if event["failure"]} == red
    finish = recording.one("finish")
    assert (finish["exit"], finish["collected"]) == (1, 23)
    assert finish["counts"] == {"passed": 4, "failed": 7, "skipped": 4, "xfailed": 4, "xpassed": 1, "error": 3}
    assert recording.events[-1] == finish


def test_the_record_starts_with_the_process_and_the_collection(tmp_path: Path) -> None:
    plant(tmp_path, {"test_it.py": "def test_one(): pass"})
    recording = record(tmp_path)
    assert [event["e"] for event in recording.events] == ["workers", "collected", "test-start", "test", "finish"]
    assert all(event["n"] == "5eed" for event in recording.events)
    assert recording.one("collected") == {
        "n": "5eed",
        "e": "collected",
        "tests": [["test_it.py::test_one", 0]],
        "deselected": 0,
        "excluded": {},
        "unstable_ids": [],
        "pins": {"suite": False, "tests": 0, "in_force": False},
    }


def test_a_failing_subtest_makes_its_test_fail_though_the_test_itself_passes_after_it(tmp_path: Path) -> None:
    text = """
        import unittest
        import pytest

        class TestUnit(unittest.TestCase):
            def test_some(self):
                for number in range(3):
                    with self.subTest(number=number):
                        self.assertNotEqual(number, 1)

            def test_all_well(self):
                with self.subTest(number=1):
                    pass
    """
    recording = record(plant(tmp_path, {"test_it.py": text}))
    assert recording.outcomes == {"test_it.py::TestUnit::test_some": "failed", "test_it.py::TestUnit::test_all_well": "passed"}
    assert recording.test("test_it.py::TestUnit::test_some")["failure"]["message"] == "1 == 1"


@pytest.mark.parametrize("workers", [0, 2])
def test_subtests_of_the_fixture_are_folded_too(tmp_path: Path, workers: int) -> None:
    pytest.importorskip("_pytest.subtests")
    text = """
        import pytest

        def test_some_fail(subtests):
            for number in range(3):
                with subtests.test(number=number):
                    assert number != 1

        def test_some_skip(subtests):
            with subtests.test():
                pytest.skip("this one")

        def test_fine(subtests):
            with subtests.test("well"):
                pass
    """
    recording = record(plant(tmp_path, {"test_it.py": text}), Asked(workers=workers))
    assert recording.outcomes == {
        "test_it.py::test_some_fail": "failed",
        "test_it.py::test_some_skip": "skipped",
        "test_it.py::test_fine": "passed",
    }


@pytest.mark.parametrize("workers", [0, 2])
def test_ids_are_kept_whole_however_odd(tmp_path: Path, workers: int) -> None:
    text = r"""
        import pytest

        @pytest.mark.parametrize("value", range(6), ids=["a::b", "[x]", "", " ", "caf\u00e9", "x\ny"])
        def test_odd(value): pass
    """
    recording = record(plant(tmp_path, {"tests/test_\u00fcber.py": text}), Asked(workers=workers))
    assert recording.outcomes == {
        "tests/test_\u00fcber.py::test_odd[a::b]": "passed",
        "tests/test_\u00fcber.py::test_odd[[x]]": "passed",
        "tests/test_\u00fcber.py::test_odd[]": "passed",
        "tests/test_\u00fcber.py::test_odd[ ]": "passed",
        "tests/test_\u00fcber.py::test_odd[caf\\xe9]": "passed",
        "tests/test_\u00fcber.py::test_odd[x\\ny]": "passed",
    }


@pytest.mark.parametrize("workers", [0, 2])
def test_equal_ids_are_told_apart_by_their_occurrence(tmp_path: Path, workers: int) -> None:
    conftest = """
        import pytest

        class Line(pytest.Item):
            def runtest(self): assert self.name != "tea" or self.number != 1

        class Lines(pytest.File):
            def collect(self):
                for number, name in enumerate(["tea", "tea", "milk", "tea"]):
                    line = Line.from_parent(self, name=name)
                    line.number = number
                    yield line

        def pytest_collect_file(file_path, parent):
            if file_path.suffix == ".lines":
                return Lines.from_parent(parent, path=file_path)
    """
    plant(tmp_path, {"some.lines": "", "conftest.py": conftest})
    recording = record(tmp_path, Asked(workers=workers, reversed=True))
    found = {(event["nodeid"], event["occurrence"]): event["outcome"] for event in recording.of("test")}
    assert found == {
        ("some.lines::tea", 0): "passed",
        ("some.lines::tea", 1): "failed",
        ("some.lines::milk", 0): "passed",
        ("some.lines::tea", 2): "passed",
    }


def test_ids_are_relative_to_the_tree_when_the_project_is_a_folder_in_it(tmp_path: Path) -> None:
    plant(tmp_path, {"inner/project/test_it.py": "def test_one(): assert 0", "shared/test_shared.py": "def test_two(): pass"})
    recording = record(tmp_path, Asked(directory="inner/project", arguments=(".", "../../shared")))
    assert recording.outcomes == {"inner/project/test_it.py::test_one": "failed", "shared/test_shared.py::test_two": "passed"}
    assert recording.test("inner/project/test_it.py::test_one")["failure"]["file"] == "inner/project/test_it.py"


@pytest.mark.parametrize("workers", [0, 2])
def test_ids_that_hold_addresses_get_a_stable_form_and_are_named(tmp_path: Path, workers: int) -> None:
    text = """
        import pytest

        class Thing: pass

        THINGS = [Thing() for _ in range(3)]

        @pytest.mark.parametrize("thing", THINGS, ids=repr)
        def test_thing(thing): assert thing is not THINGS[1]

        @pytest.mark.parametrize("colour", ["0xdeadbeef", "0x00ff00"])
        def test_colour(colour): pass
    """
    recording = record(plant(tmp_path, {"test_it.py": text}), Asked(workers=workers))
    thing = "test_it.py::test_thing[<test_it.Thing object at 0x...>]"
    assert recording.one("collected")["unstable_ids"] == [thing]
    found = {(event["nodeid"], event["occurrence"]): event["outcome"] for event in recording.of("test")}
    assert found == {
        (thing, 0): "passed",
        (thing, 1): "failed",
        (thing, 2): "passed",
        ("test_it.py::test_colour[0xdeadbeef]", 0): "passed",
        ("test_it.py::test_colour[0x00ff00]", 0): "passed",
    }


@pytest.mark.parametrize("workers", [0, 2])
def test_a_module_that_cannot_be_imported_is_an_event_and_the_others_run(tmp_path: Path, workers: int) -> None:
    files = {
        "test_bad.py": "import no_such_module\ndef test_never(): pass",
        "test_wrong.py": "def test_never(:",
        "test_needs.py": "import pytest\npytest.importorskip('no_such_module', reason='not here')",
        "test_good.py": "def test_fine(): pass",
    }
    recording = record(plant(tmp_path, files), Asked(workers=workers))
    assert recording.outcomes == {"test_good.py::test_fine": "passed"}
    failures = {event["nodeid"]: event["failure"] for event in recording.of("collect-error")}
    assert set(failures) == {"test_bad.py", "test_wrong.py"}
    assert len(recording.of("collect-error")) == 2
    assert failures["test_bad.py"]["exception"] == "ModuleNotFoundError"
    assert (failures["test_bad.py"]["file"], failures["test_bad.py"]["line"]) == ("test_bad.py", 1)
    assert failures["test_wrong.py"]["exception"] == "SyntaxError"
    skip = recording.one("collect-skip")
    assert skip["nodeid"] == "test_needs.py"
    assert skip["reason"] == "not here"


def test_nothing_collected_is_said(tmp_path: Path) -> None:
    recording = record(plant(tmp_path, {"test_it.py": "x = 1"}))
    assert recording.one("collected")["tests"] == []
    assert recording.one("finish") == {"n": "5eed", "e": "finish", "exit": 5, "collected": 0, "counts": {}, "why": ""}


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("turned", [False, True])
def test_tests_that_end_the_session_are_named_and_all_others_run(tmp_path: Path, workers: int, *, turned: bool) -> None:
    text = """
        import os, signal, pytest

        TORN_DOWN = []

        @pytest.fixture(scope="module")
        def shared():
            yield
            TORN_DOWN.append("shared")

        @pytest.fixture
        def own(request):
            yield
            TORN_DOWN.append(request.node.name)

        @pytest.fixture
        def stubborn():
            yield
            raise KeyboardInterrupt

        @pytest.fixture
        def unavailable(): pytest.exit("no database")

        def test_leaves(shared, own): pytest.exit("enough", returncode=0)
        def test_interrupts(shared, own): raise KeyboardInterrupt
        def test_is_interrupted(own): os.kill(os.getpid(), signal.SIGINT)
        def test_lacks_its_fixture(own, unavailable): pass
        def test_tears_down(own, stubborn): pass
        def test_passes(shared, own): assert "shared" not in TORN_DOWN
        def test_passes_too(shared, capsys):
            print("seen")
            assert capsys.readouterr().out == "seen\\n"
    """
    recording = record(plant(tmp_path, {"test_it.py": text}), Asked(workers=workers, reversed=turned))
    red = {"leaves", "interrupts", "is_interrupted", "lacks_its_fixture", "tears_down"}
    assert recording.outcomes == {
        **{f"test_it.py::test_{name}": "error" for name in red},
        "test_it.py::test_passes": "passed",
        "test_it.py::test_passes_too": "passed",
    }
    failure = recording.test("test_it.py::test_leaves")["failure"]
    assert (failure["phase"], failure["exception"], failure["message"]) == ("session", "pytest.exit", "enough")
    assert failure["text"].startswith('pytest.exit("enough") in this test ends the whole session of pytest; ')
    assert recording.test("test_it.py::test_interrupts")["failure"]["exception"] == "KeyboardInterrupt"
    assert recording.one("finish")["counts"] == {"error": 5, "passed": 2}


@pytest.mark.parametrize("workers", [0, 2])
def test_a_child_that_ends_its_session_ends_alone(tmp_path: Path, workers: int) -> None:
    text = """
        import os, pytest

        @pytest.fixture
        def forks():
            pid = os.fork()
            if pid == 0:
                pytest.exit("the child")
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

        def test_a(): pass
        def test_forks(forks): assert forks == 1
        def test_z(): pass
    """
    recording = record(plant(tmp_path, {"test_it.py": text}), Asked(workers=workers))
    assert recording.outcomes == {f"test_it.py::test_{name}": "passed" for name in ("a", "forks", "z")}


@pytest.mark.parametrize("workers", [0, 2])
def test_what_ends_a_session_between_tests_is_said(tmp_path: Path, workers: int) -> None:
    conftest = """
        import pytest

        @pytest.fixture(autouse=True)
        def stops(request): request.session.shouldstop = "that will do"
    """
    plant(tmp_path, {"test_it.py": "def test_a(): pass\ndef test_b(): pass\n", "conftest.py": conftest})
    recording = record(tmp_path, Asked(workers=workers))
    assert len(recording.outcomes) == 1
    assert (recording.one("finish")["exit"], recording.one("finish")["why"]) == (2, "that will do")


def test_without_its_variable_the_plugin_does_nothing(tmp_path: Path) -> None:
    plant(tmp_path, {"test_it.py": "def test_b(): pass\ndef test_a(): pass"})
    command = [sys.executable, "-B", "-c", BOOT, "-p", "paritygate_recorder", "-p", "no:randomly", "-v", "-n", "0"]
    printed = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert printed.index("::test_b PASSED") < printed.index("::test_a PASSED")

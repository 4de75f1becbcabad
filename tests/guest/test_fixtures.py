"""After the tests the launcher looks whether locked files are still what was sent."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
import pytest

from paritygate.classifier import labels
from paritygate.locks import drift
from paritygate.outcomes.cells import NodeId
from paritygate.outcomes.words import CauseKind, CellStatus
from tests.support.guest import Guest

CONTENT = b"recorded\n"
TESTS = """
    import os, pathlib, time

    def test_changes():
        pathlib.Path("changed").write_text("other")
        os.utime("changed", (1, 1))
        time.sleep(0.05)

    def test_keeps_what_it_writes_again():
        pathlib.Path("kept").write_text("recorded\\n")
        time.sleep(0.05)

    def test_makes_it_longer():
        with open("longer", "r+b") as file:
            file.truncate(1 << 40)
        time.sleep(0.05)

    def test_removes():
        os.remove("gone")

    def test_puts_other_things_there():
        os.remove("pipe")
        os.mkfifo("pipe")
        os.remove("link")
        os.symlink("/dev/zero", "link")
        time.sleep(0.05)
"""


def lock(guest: Guest, *names: str) -> None:
    for name in names:
        (guest.tree / name).write_bytes(CONTENT)
    guest.changes["locked"] = {name: [hashlib.sha256(CONTENT).hexdigest(), len(CONTENT)] for name in names}


def test_what_tests_did_to_locked_files_is_told_with_the_tests(guest: Guest) -> None:
    guest.write("test_a.py", TESTS)
    lock(guest, "changed", "kept", "longer", "gone", "pipe", "link", "untouched")
    ran = guest.run()
    assert ran.cell.status is CellStatus.FINISHED
    told = {each.path: (each.what, {test.nodeid.partition("::")[2] for test in each.tests}) for each in ran.cell.rewritten}
    assert told.pop("gone") == ("gone", set())
    assert {path: what for path, (what, _) in told.items()} == {
        "changed": "changed",
        "longer": "changed",
        "pipe": "replaced",
        "link": "unreadable",
    }
    expected = {
        "changed": "test_changes",
        "longer": "test_makes_it_longer",
        "pipe": "test_puts_other_things_there",
        "link": "test_puts_other_things_there",
    }
    assert {path: name in told[path][1] for path, name in expected.items()} == dict.fromkeys(expected, True)


def test_a_test_that_takes_its_process_down_is_named_too(guest: Guest) -> None:
    guest.write("test_a.py", "import os, pathlib\ndef test_dies():\n    pathlib.Path('a').write_text('b')\n    os._exit(3)\n")
    lock(guest, "a")
    (told,) = guest.run().cell.rewritten
    assert [test.nodeid for test in told.tests] == ["test_a.py::test_dies"]


@pytest.mark.parametrize("changes", [{}, {"locked": {}}, {"locked": None}])
def test_without_a_lock_nothing_is_looked_at(guest: Guest, changes: dict[str, Any]) -> None:
    guest.write("test_a.py", "def test_a(): open('a', 'w').close()\n")
    guest.changes.update(changes)
    assert guest.run().cell.rewritten == ()


def test_tests_with_marks_that_the_configuration_names_are_left_out_with_its_reason(guest: Guest) -> None:
    guest.write(
        "test_a.py",
        """
        import pytest

        @pytest.mark.gpu
        class TestGpu:
            def test_one(self): assert 0

            @pytest.mark.parity_exclude(reason="a reason of its own")
            def test_two(self): assert 0

        @pytest.mark.licensed("2026")
        def test_three(): assert 0

        def test_four(): pass
        """,
    )
    guest.changes["pytest"] = {
        "paths": [],
        "keyword": "",
        "marker": "",
        "arguments": [],
        "exclude": {"gpu": "needs a GPU", "licensed": "needs a licence", "other": "is never used"},
    }
    cell = guest.run().cell
    assert [run.nodeid for run in cell.tests] == ["test_a.py::test_four"]
    assert cell.deselected == 0
    assert cell.excluded == {
        "test_a.py::TestGpu::test_one": "needs a GPU",
        "test_a.py::TestGpu::test_two": "a reason of its own",
        "test_a.py::test_three": "needs a licence",
    }


def test_a_project_may_ask_for_what_the_wheel_offers_without_having_it(guest: Guest) -> None:
    guest.write("pytest.ini", "[pytest]\nparity_locks = true\naddopts = --strict-config --parity-freezes\n")
    guest.write("test_a.py", "def test_a(): pass\n")
    assert [run.nodeid for run in guest.run().cell.tests] == ["test_a.py::test_a"]


def test_whoever_reads_what_another_test_has_changed_is_its_victim(guest: Guest) -> None:
    guest.write(
        "test_a.py",
        """
        import pathlib, time

        def test_changes():
            pathlib.Path("a").write_text("other")
            time.sleep(0.1)

        def test_reads():
            assert pathlib.Path("a").read_text() == "recorded\\n"
            time.sleep(0.1)
        """,
    )
    cells = []
    for attempt, backwards in enumerate((False, True), start=1):
        lock(guest, "a")
        guest.changes["order"] = {"seed": 3, "reversed": backwards, "exactly": None, "only": None}
        cells.append(msgspec.structs.replace(guest.run().cell, attempt=attempt))
    found = {each.nodeid: each for each in drift.attributed(labels.label(cells), cells)}
    assert found[NodeId("test_a.py::test_changes")].cause is None
    cause = found[NodeId("test_a.py::test_reads")].cause
    assert cause is not None
    assert (cause.kind, cause.polluters, cause.files) == (CauseKind.FIXTURE_DRIFT, ("test_a.py::test_changes",), ("a",))

"""What pytest is asked for and cannot give: said in its own words, and stopping nothing that it can give."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.recording import Asked, Recording, plant, record

FILES = {
    "test_a.py": """
        import pytest

        class TestOne:
            def test_inside(self): pass

        def test_other(): pass

        @pytest.mark.parametrize("zone", ["utc", "tokyo::east"])
        def test_zone(zone): pass
    """,
    "test_b.py": "def test_b(): pass",
    "test_broken.py": "import no_such_module",
    "test_skips.py": "import pytest\npytest.skip('not here', allow_module_level=True)",
}


def missing(recording: Recording) -> set[str]:
    return {event["nodeid"] for event in recording.of("collect-missing")}


@pytest.mark.parametrize("workers", [0, 2])
def test_an_id_that_is_not_there_stops_no_other(tmp_path: Path, workers: int) -> None:
    asked = (
        "test_a.py::TestOne::test_inside",
        "test_a.py::TestOne::test_gone",
        "test_a.py::TestGone::test_inside",
        "test_a.py::test_zone[tokyo::east]",
        "test_a.py::test_zone[rome]",
        "test_b.py::nosuch",
    )
    recording = record(plant(tmp_path, FILES), Asked(arguments=asked, workers=workers))
    assert recording.outcomes == {"test_a.py::TestOne::test_inside": "passed", "test_a.py::test_zone[tokyo::east]": "passed"}
    assert missing(recording) == {
        "test_a.py::TestOne::test_gone",
        "test_a.py::TestGone::test_inside",
        "test_a.py::test_zone[rome]",
        "test_b.py::nosuch",
    }
    assert len(recording.of("collect-missing")) == 4
    assert recording.exit == 0


@pytest.mark.parametrize("workers", [0, 2])
def test_an_id_that_is_not_there_leaves_no_test(tmp_path: Path, workers: int) -> None:
    recording = record(plant(tmp_path, FILES), Asked(arguments=("test_b.py::nosuch",), workers=workers))
    assert (recording.exit, missing(recording)) == (5, {"test_b.py::nosuch"})
    assert recording.one("collected")["tests"] == []


def test_ids_are_said_from_the_top_of_the_tree(tmp_path: Path) -> None:
    plant(tmp_path, {"sub/test_b.py": "def test_b(): pass"})
    recording = record(tmp_path, Asked(arguments=("test_b.py::nosuch",), directory="sub"))
    assert missing(recording) == {"sub/test_b.py::nosuch"}


@pytest.mark.parametrize("asked", ["notes.md", "notes.md::test_it"])
def test_a_file_that_nothing_can_collect_stops_no_other(tmp_path: Path, asked: str) -> None:
    recording = record(plant(tmp_path, {**FILES, "notes.md": "# Notes"}), Asked(arguments=(asked, "test_b.py")))
    assert recording.outcomes == {"test_b.py::test_b": "passed"}
    assert missing(recording) == {asked}


@pytest.mark.parametrize("workers", [0, 2])
def test_ids_in_files_that_break_or_skip_themselves_stop_no_other(tmp_path: Path, workers: int) -> None:
    asked = ("test_broken.py::test_it", "test_skips.py::test_it", "test_b.py::test_b")
    recording = record(plant(tmp_path, FILES), Asked(arguments=asked, workers=workers))
    assert recording.outcomes == {"test_b.py::test_b": "passed"}
    assert recording.one("collect-error")["nodeid"] == "test_broken.py"
    assert recording.one("collect-skip")["nodeid"] == "test_skips.py"


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("option", ["-k", "-m"])
def test_an_expression_that_is_none_is_refused_in_the_words_of_pytest(tmp_path: Path, option: str, workers: int) -> None:
    recording = record(plant(tmp_path, FILES), Asked(arguments=(option, "and and"), workers=workers))
    assert recording.exit == 4
    assert recording.one("finish")["why"].startswith(f"Wrong expression passed to '{option}': and and")
    assert "INTERNALERROR" not in recording.printed
    assert recording.of("collected") == []


@pytest.mark.parametrize("workers", [0, 2])
def test_a_plugin_that_fails_after_collection_leaves_no_collection(tmp_path: Path, workers: int) -> None:
    plant(tmp_path, {**FILES, "conftest.py": "def pytest_collection_modifyitems(): raise ValueError('no order')"})
    recording = record(tmp_path, Asked(workers=workers))
    assert recording.exit == 3
    assert "no order" in recording.one("finish")["why"]
    assert recording.of("collected") == []

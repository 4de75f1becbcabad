"""Which of the watched paths each test touches: by itself, through its fixtures, and by importing what it needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.recording import Asked, Recording, plant, record


def touched(recording: Recording) -> dict[str, list[tuple[str, str]]]:
    return {
        event["nodeid"].partition("::")[2] or event["nodeid"]: [(path, how) for path, how in event["touched"]]
        for event in recording.of("touched")
    }


def run(tree: Path, files: dict[str, str], *watched: str, workers: int = 0) -> Recording:
    recording = record(plant(tree, files), Asked(watched=watched, workers=workers, exactly=None))
    assert "INTERNALERROR" not in recording.printed
    return recording


def test_what_a_test_opens_looks_for_lists_writes_and_gives_to_a_program(tmp_path: Path) -> None:
    tests = """
        import os, pathlib, sqlite3, subprocess, sys

        HERE = pathlib.Path(__file__).parent

        def test_opens():
            assert (HERE / "data" / "a.txt").read_text() == "a"

        def test_opens_what_is_not_there():
            try:
                open("data/missing.txt")
            except FileNotFoundError:
                pass

        def test_looks():
            assert not os.path.exists("data/missing.txt") and not (HERE / "data" / "missing.txt").is_file()

        def test_lists():
            assert len(list((HERE / "data").glob("*.txt"))) == 1

        def test_walks():
            assert len(list(os.walk(HERE / "data"))) == 1

        def test_writes(): (HERE / "out.log").write_text("x")

        def test_gives():
            subprocess.run([sys.executable, "-c", "", "data/a.txt"], check=True)

        def test_gives_a_line_to_the_shell():
            subprocess.run("cat a.txt > /dev/null", shell=True, cwd=HERE / "data", check=True)

        def test_asks_a_database():
            sqlite3.connect(HERE / "data" / "b.db").close()

        def test_touches_nothing_that_is_watched():
            assert open(__file__).read()
    """
    files = {"data/a.txt": "a", "test_a.py": tests}
    assert touched(run(tmp_path, files, "data/a.txt", "data/missing.txt", "data/b.db", "out.log")) == {
        "test_opens": [("data/a.txt", "opened")],
        "test_opens_what_is_not_there": [("data/missing.txt", "opened")],
        "test_looks": [("data/missing.txt", "looked for")],
        "test_lists": [("data", "listed")],
        "test_walks": [("data", "listed")],
        "test_writes": [("out.log", "written")],
        "test_gives": [("data/a.txt", "given to a program")],
        "test_gives_a_line_to_the_shell": [("data/a.txt", "given to a program")],
        "test_asks_a_database": [("data/b.db", "opened")],
    }


@pytest.mark.parametrize("workers", [0, 2])
def test_what_lies_in_a_watched_folder_is_watched(tmp_path: Path, workers: int) -> None:
    files = {
        "cache/deep/a.txt": "a",
        "other/a.txt": "a",
        "test_a.py": "def test_it(): open('cache/deep/a.txt').close(); open('other/a.txt').close()",
    }
    assert touched(run(tmp_path, files, "cache/", workers=workers)) == {"test_it": [("cache/deep/a.txt", "opened")]}


def test_a_link_leads_to_what_is_watched(tmp_path: Path) -> None:
    plant(tmp_path, {"data/a.txt": "a", "test_a.py": "def test_it(): open('link.txt').close()"})
    (tmp_path / "link.txt").symlink_to("data/a.txt")
    assert touched(run(tmp_path, {}, "data/a.txt")) == {"test_it": [("data/a.txt", "opened")]}


def test_what_a_wide_fixture_does_counts_for_every_test_that_uses_it(tmp_path: Path) -> None:
    tests = """
        import pytest

        @pytest.fixture(scope="session")
        def rates():
            return open("rates.json").read()

        @pytest.fixture(scope="module")
        def rate(rates):
            return rates

        def test_one(rates): pass
        def test_two(rate): pass
        def test_without(): pass
    """
    found = touched(run(tmp_path, {"rates.json": "[]", "test_a.py": tests}, "rates.json"))
    assert found == {"test_one": [("rates.json", "opened")], "test_two": [("rates.json", "opened")]}


def test_fixtures_are_told_that_a_process_sets_up_once_and_that_are_the_projects(tmp_path: Path) -> None:
    files = {
        "conftest.py": """
            import pytest

            @pytest.fixture(scope="session")
            def service(tmp_path_factory): return 1

            @pytest.fixture(scope="session")
            def unused(): return 1

            @pytest.fixture
            def narrow(service): return service
        """,
        "test_a.py": "def test_one(service): pass\ndef test_two(narrow): pass\ndef test_three(tmp_path): pass",
    }
    recording = run(tmp_path, files)
    told = {event["nodeid"]: event["fixtures"] for event in recording.of("touched")}
    assert told == {f"test_a.py::test_{name}": ["conftest.py::service"] for name in ("one", "two")}


def test_what_an_import_touches_counts_for_the_tests_of_the_modules_that_need_it(tmp_path: Path) -> None:
    files = {
        "data/x.txt": "x",
        "shop/__init__.py": "",
        "shop/config.py": "X = open('data/x.txt').read()",
        "shop/prices.py": "from shop.config import X\ndef price(): return X",
        "test_a.py": "from shop.prices import price\ndef test_a(): pass",
        "test_b.py": "from shop import prices\ndef test_b(): pass",
        "test_c.py": "def test_c(): pass",
    }
    found = touched(run(tmp_path, files, "data/x.txt"))
    assert found == {"test_a": [("data/x.txt", "opened")], "test_b": [("data/x.txt", "opened")]}


def test_a_watched_module_counts_for_its_own_tests_and_a_conftest_for_those_below_it(tmp_path: Path) -> None:
    files = {
        "sub/conftest.py": "import pytest",
        "sub/test_a.py": "def test_a(): pass",
        "test_new.py": "def test_new(): pass",
        "test_old.py": "def test_old(): pass",
    }
    assert touched(run(tmp_path, files, "sub/conftest.py", "test_new.py")) == {
        "test_a": [("sub/conftest.py", "opened")],
        "test_new": [("test_new.py", "opened")],
    }


def test_the_settings_of_pytest_count_for_every_test_and_what_pytest_lists_for_none(tmp_path: Path) -> None:
    files = {"pytest.ini": "[pytest]\n", "notes.txt": "", "test_a.py": "def test_a(): pass\ndef test_b(): pass"}
    found = touched(run(tmp_path, files, "pytest.ini", "notes.txt"))
    assert found == {"test_a": [("pytest.ini", "opened")], "test_b": [("pytest.ini", "opened")]}


def test_without_anything_to_watch_nothing_is_told_and_nothing_is_wrapped(tmp_path: Path) -> None:
    tests = "import os, posix\ndef test_it(): assert os.stat is posix.stat and open('a.txt').read() == 'a'"
    plant(tmp_path, {"a.txt": "a", "test_a.py": tests})
    recording = record(tmp_path, Asked())
    assert (recording.outcomes, recording.of("touched")) == ({"test_a.py::test_it": "passed"}, [])


def test_what_looks_at_the_disk_works_as_ever_while_it_is_watched(tmp_path: Path) -> None:
    tests = """
        import os, shutil, stat

        def test_it(tmp_path):
            (tmp_path / "a" / "b").mkdir(parents=True)
            folder = os.open(tmp_path, os.O_RDONLY)
            assert stat.S_ISDIR(os.stat("a", dir_fd=folder).st_mode)
            assert os.stat(folder).st_ino == os.lstat(tmp_path).st_ino
            os.close(folder)
            assert os.access(tmp_path, os.R_OK) and os.stat in os.supports_dir_fd and os.stat.__name__ == "stat"
            shutil.rmtree(tmp_path / "a")
            assert not (tmp_path / "a").exists()
    """
    assert run(tmp_path, {"test_a.py": tests}, "a.txt").outcomes == {"test_a.py::test_it": "passed"}

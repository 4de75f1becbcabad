"""Pins of the ordinary suite, in real processes: what tests see, what the header says, and what is there afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.recording import plant
from tests.support.samples import clean_environment

SEEN = """\
    import json, locale, os, random, sys, time
    from pathlib import Path

    def seen():
        names = ("TZ", "LC_ALL", "LANG", "PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE")
        return {
            **{name: os.environ.get(name) for name in names},
            "zone": time.tzname[0],
            "hash": hash("paritygate"),
            "locale": locale.setlocale(locale.LC_CTYPE),
            "bytecode": sys.dont_write_bytecode,
            "random": random.random(),
            "arguments": sys.argv[1:],
            "restarted": os.environ.get("PARITYGATE_PINS_RESTARTED"),
        }

    def tell(name):
        Path(__file__).with_name(name + ".json").write_text(json.dumps(seen()))
"""
TESTS = """\
    import pytest
    from seen import tell

    tell("import")

    def test_a():
        tell("a")

    @pytest.mark.parametrize("word", ["two words", "é", ""])
    def test_b(word):
        tell("b")
"""
WITHOUT_RANDOMLY = ("-p", "no:randomly")
HEADER = "paritygate pins: TZ=UTC LC_ALL=C.UTF-8 LANG=C.UTF-8 PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 random seed 0"
NOT_IN_FORCE = "paritygate pin not in force: "
ELSEWHERE = f"{NOT_IN_FORCE}PYTHONHASHSEED=0: pytest was started from inside another program"
BEFORE = {"TZ": "Asia/Tokyo", "LC_ALL": "C", "LANG": "C", "PYTHONHASHSEED": "5", "PYTHONDONTWRITEBYTECODE": ""}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a project whose suite is pinned, and tells what it sees."""
    ini = "[pytest]\nparity_pin = true\n"
    return plant(tmp_path, {"pytest.ini": ini, "seen.py": SEEN, "test_a.py": TESTS, "conftest.py": ""})


def run(project: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run python in a project, somewhere else than where the pins say."""
    environment = {**clean_environment(), "PYTHONPATH": str(project), **BEFORE, **variables}
    environment = {name: value for name, value in environment.items() if value}
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=project, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def run_pytest(project: Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return run(project, "-m", "pytest", "-p", "no:cacheprovider", "--strict-config", *options, **variables)


def seen(project: Path, name: str) -> dict[str, object]:
    found: dict[str, object] = json.loads((project / f"{name}.json").read_text(encoding="utf-8"))
    return found


def hash_with(seed: str) -> int:
    environment = {**clean_environment(), "PYTHONHASHSEED": seed}
    command = [sys.executable, "-c", "print(hash('paritygate'))"]
    return int(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)


def pinned(seen: dict[str, object]) -> bool:
    wanted = {"TZ": "UTC", "LC_ALL": "C.UTF-8", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    wanted |= {"zone": "UTC", "locale": "C.UTF-8"}
    return all(seen[name] == value for name, value in wanted.items()) and seen["bytecode"] is True


def test_a_suite_is_pinned_from_its_imports_on_and_says_to_what(project: Path) -> None:
    ended = run_pytest(project, *WITHOUT_RANDOMLY)
    assert (ended.returncode, HEADER in ended.stdout, NOT_IN_FORCE in ended.stdout) == (0, True, False), ended.stdout
    for name in ("import", "a", "b"):
        assert pinned(seen(project, name))
        assert (seen(project, name)["hash"], seen(project, name)["restarted"]) == (hash_with("0"), None)
    assert seen(project, "a")["random"] == seen(project, "b")["random"] == 0.8444218515250481
    assert not list(project.rglob("__pycache__"))


@pytest.mark.parametrize("asked", [("-o", "parity_pin=true"), ("--parity-pin",)])
@pytest.mark.parametrize("workers", ["0", "2"])
def test_workers_are_pinned_as_well_however_it_is_asked_for(project: Path, workers: str, asked: tuple[str, ...]) -> None:
    (project / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    ended = run_pytest(project, "-n", workers, *asked, *WITHOUT_RANDOMLY)
    assert (ended.returncode, HEADER in ended.stdout, NOT_IN_FORCE in ended.stdout) == (0, True, False), ended.stdout
    assert pinned(seen(project, "a"))
    assert seen(project, "a")["hash"] == hash_with("0")
    assert seen(project, "a")["random"] == 0.8444218515250481


def test_nothing_is_pinned_unless_asked(project: Path) -> None:
    (project / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    ended = run_pytest(project)
    assert (ended.returncode, "paritygate pin" in ended.stdout) == (0, False), ended.stdout
    assert (seen(project, "a")["TZ"], seen(project, "a")["zone"], seen(project, "a")["bytecode"]) == ("Asia/Tokyo", "JST", False)


def test_the_values_are_one_table(project: Path) -> None:
    table = '[pins]\ntimezone = "Asia/Kolkata"\nlocale = "C"\nhash-seed = 7\nrandom-seed = 3\nbytecode = true\n'
    (project / "paritygate.toml").write_text(table, encoding="utf-8")
    ended = run_pytest(project, *WITHOUT_RANDOMLY, PYTHONDONTWRITEBYTECODE="1")
    said = "paritygate pins: TZ=Asia/Kolkata LC_ALL=C LANG=C PYTHONHASHSEED=7 random seed 3\n"
    assert (ended.returncode, said in ended.stdout) == (0, True), ended.stdout
    assert (seen(project, "a")["zone"], seen(project, "a")["hash"]) == ("IST", hash_with("7"))
    assert (seen(project, "a")["bytecode"], seen(project, "a")["PYTHONDONTWRITEBYTECODE"]) == (False, None)
    assert seen(project, "a")["random"] == 0.23796462709189137


def test_a_table_that_cannot_be_is_a_usage_error_with_all_that_is_wrong(project: Path) -> None:
    (project / "paritygate.toml").write_text('[pins]\ntimezone = "Mars"\nlocale = "x"\nhash-sed = 1\n', encoding="utf-8")
    ended = run_pytest(project)
    assert ended.returncode == 4
    assert all(f"`pins.{key}`" in ended.stderr for key in ("timezone", "locale", "hash-sed")), ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("options", "status"),
    [((), 0), (("-k", "nothing_is_called_so"), 5), (("--no-such-option",), 4), (("no_such_file.py",), 4), (("--co", "-q"), 0)],
)
def test_starting_anew_keeps_the_exit_status(project: Path, options: tuple[str, ...], status: int) -> None:
    assert run_pytest(project, *options).returncode == status


def test_starting_anew_keeps_every_argument_and_what_comes_over_stdin(project: Path) -> None:
    words = ("-p", "no:cacheprovider", "-x", "test_a.py::test_b[two words]", "test_a.py::test_b[]", "-o", "addopts=")
    assert run(project, "-m", "pytest", *words).returncode == 0
    assert seen(project, "b")["arguments"] == list(words)
    (project / "test_a.py").write_text("import os\ndef test_a(): assert os.read(0, 9) == b'said'\n", encoding="utf-8")
    command = [str(Path(sys.executable).with_name("pytest")), "-s", "-p", "no:cacheprovider"]
    environment = {**clean_environment(), "TZ": "Asia/Tokyo"}
    ended = subprocess.run(command, cwd=project, env=environment, input=b"said", capture_output=True, check=False)
    assert (ended.returncode, HEADER.removesuffix(" random seed 0").encode() in ended.stdout) == (0, True), ended.stdout


def test_a_death_by_a_signal_is_still_one(project: Path) -> None:
    (project / "test_a.py").write_text("import os\ndef test_a(): os.kill(os.getpid(), 9)\n", encoding="utf-8")
    assert run_pytest(project).returncode == -signal.SIGKILL


def test_an_interpreter_that_has_the_seed_already_is_not_started_anew(project: Path) -> None:
    (project / "sitecustomize.py").write_text("open('starts', 'a').write('x')\n", encoding="utf-8")
    ended = run_pytest(project, PYTHONHASHSEED="0", TZ="UTC")
    assert (ended.returncode, NOT_IN_FORCE in ended.stdout) == (0, False), ended.stdout
    assert (project / "starts").read_text(encoding="utf-8") == "x"
    assert run_pytest(project).returncode == 0
    assert (project / "starts").read_text(encoding="utf-8") == "xxx"


@pytest.mark.parametrize("lie", ["", "import os; os.environ['PYTHONHASHSEED'] = '0'; "])
def test_inside_another_program_the_hash_seed_is_said_not_to_be_in_force_and_all_is_put_back(project: Path, lie: str) -> None:
    script = (
        f"{lie}import pytest, seen, random; seen.tell('before'); state = random.getstate(); "
        "code = pytest.main(['-p', 'no:cacheprovider', '-p', 'no:randomly']); assert random.getstate() == state; "
        "seen.tell('after'); raise SystemExit(code)"
    )
    ended = run(project, "-c", script)
    assert (ended.returncode, ELSEWHERE in ended.stdout) == (0, True), ended.stdout + ended.stderr
    assert "paritygate pins: TZ=UTC LC_ALL=C.UTF-8 LANG=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 random seed 0\n" in ended.stdout
    assert pinned(seen(project, "a"))
    before, after = seen(project, "before"), seen(project, "after")
    assert {**before, "random": 0} == {**after, "random": 0}
    assert before["zone"] == "JST"


def test_a_run_that_stops_before_its_tests_puts_all_back_too(project: Path) -> None:
    (project / "conftest.py").write_text("raise RuntimeError\n", encoding="utf-8")
    script = "import pytest, seen; code = pytest.main([]); seen.tell('after'); raise SystemExit(code)"
    assert run(project, "-c", script).returncode == 4
    assert (seen(project, "after")["TZ"], seen(project, "after")["zone"]) == ("Asia/Tokyo", "JST")


def test_an_interpreter_that_ignores_variables_is_not_started_anew(project: Path) -> None:
    script = "import runpy, sys; sys.path.insert(0, '.'); runpy.run_module('pytest', run_name='__main__', alter_sys=True)"
    ended = run(project, "-E", "-c", script, "-p", "no:cacheprovider")
    assert f"{NOT_IN_FORCE}PYTHONHASHSEED=0: python ignores variables (`-E`, `-I`)" in ended.stdout, ended.stdout


def test_a_machine_without_the_locale_says_so(project: Path) -> None:
    (project / "paritygate.toml").write_text('[pins]\nlocale = "zu_ZA.ISO-8859-1"\n', encoding="utf-8")
    ended = run_pytest(project)
    both = "LC_ALL=zu_ZA.ISO-8859-1 and LANG=zu_ZA.ISO-8859-1"
    assert f"{NOT_IN_FORCE}{both}: this machine does not have the locale" in ended.stdout, ended.stdout
    assert seen(project, "a")["locale"] == "C"


def test_pytest_randomly_takes_the_seed_of_the_pins_unless_it_is_given_one(project: Path) -> None:
    first, second = run_pytest(project, "-n", "2"), run_pytest(project)
    assert all("Using --randomly-seed=0" in each.stdout and "random seed 0" in each.stdout for each in (first, second))
    given = run_pytest(project, "-p", "randomly", "--randomly-seed=9")
    assert "Using --randomly-seed=9" in given.stdout
    assert f"{NOT_IN_FORCE}random seed 0: `--randomly-seed` goes over it" in given.stdout, given.stdout


def test_the_fixture_pins_one_test_and_puts_all_back(project: Path) -> None:
    text = """\
        import subprocess, sys
        from seen import tell, seen

        def test_a(): tell("a")
        def test_b(pinned_environment):
            tell("b")
            assert pinned_environment["TZ"] == "UTC"
            child = [sys.executable, "-c", "print(hash('paritygate'))"]
            print("child", subprocess.check_output(child, text=True))
        def test_c(): tell("c")
    """
    plant(project, {"pytest.ini": "[pytest]\n", "test_a.py": text})
    ended = run_pytest(project, *WITHOUT_RANDOMLY, "-s")
    assert (ended.returncode, f"child {hash_with('0')}" in ended.stdout) == (0, True), ended.stdout
    before, within, after = seen(project, "a"), seen(project, "b"), seen(project, "c")
    assert (pinned(within), within["random"], within["hash"]) == (True, 0.8444218515250481, hash_with("5"))
    assert {**before, "random": 0} == {**after, "random": 0}
    assert before["zone"] == "JST"


def test_a_pinned_suite_can_be_started_by_a_pinned_test(project: Path) -> None:
    """The inner one is another process, and has the seed already."""
    inner = plant(project / "inner", {"pytest.ini": "[pytest]\nparity_pin = true\n", "test_i.py": "def test_i(): pass\n"})
    text = f"""\
        import subprocess, sys
        def test_a():
            done = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider"], cwd={str(inner)!r})
            assert done.returncode == 0
    """
    plant(project, {"test_a.py": text})
    ended = run_pytest(project, "-s", "test_a.py")
    assert (ended.returncode, ended.stdout.count("PYTHONHASHSEED=0"), os.linesep in ended.stdout) == (0, 2, True), ended.stdout


NUMPY_RANDOM = """\
    import random as python

    _generator = python.Random(1)

    def seed(number):
        _generator.seed(number)

    def get_state():
        return _generator.getstate()

    def set_state(state):
        _generator.setstate(state)

    def random():
        return _generator.random()
"""
"""A module that has numpy's name and what pins rely on, and is loaded as late as numpy's."""
LAZY = """\
    def __getattr__(name):
        import importlib
        return importlib.import_module("numpy.random")
"""
SEED_0, SEED_1 = 0.8444218515250481, 0.13436424411240122


def plant_numpy(project: Path) -> None:
    plant(project, {"numpy/__init__.py": LAZY, "numpy/random.py": NUMPY_RANDOM})


@pytest.mark.parametrize(("at_import", "first"), [("import numpy", True), ("", False)])
def test_numpy_is_seeded_before_each_test_once_the_suite_has_imported_it(project: Path, at_import: str, *, first: bool) -> None:
    """A test that is the first to import it comes too late: pins import nothing that the project does not."""
    plant_numpy(project)
    text = f"""\
        import pytest
        {at_import}

        @pytest.mark.parametrize("attempt", [1, 2])
        def test_a(attempt):
            import numpy
            assert (numpy.random.random() == {SEED_0}) == ({first} or attempt > 1)
    """
    plant(project, {"test_a.py": text})
    ended = run_pytest(project, *WITHOUT_RANDOMLY)
    assert ended.returncode == 0, ended.stdout


@pytest.mark.parametrize("planted", ["None", "type(sys)('numpy')"])
def test_what_stands_in_for_numpy_is_let_be(project: Path, planted: str) -> None:
    plant(project, {"conftest.py": f"import sys\nsys.modules['numpy'] = {planted}\n"})
    assert run_pytest(project).returncode == 0


def test_numpy_is_put_back_as_it_was_after_a_suite_and_after_one_test(project: Path) -> None:
    plant_numpy(project)
    script = (
        "import pytest, random, numpy.random; numpy.random.random(); state = numpy.random.get_state(), random.getstate(); "
        "code = pytest.main(['-p', 'no:cacheprovider', '-p', 'no:randomly']); "
        "assert (numpy.random.get_state(), random.getstate()) == state; raise SystemExit(code)"
    )
    plant(project, {"test_a.py": f"import numpy.random\n\ndef test_a():\n    assert numpy.random.random() == {SEED_0}\n"})
    ended = run(project, "-c", script)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    text = f"""\
        import numpy.random
        def test_a(): assert numpy.random.random() == {SEED_1}
        def test_b(pinned_environment): assert numpy.random.random() == {SEED_0}
        def test_c(): assert numpy.random.random() == 0.8474337369372327
    """
    plant(project, {"pytest.ini": "[pytest]\n", "test_a.py": text})
    ended = run_pytest(project, *WITHOUT_RANDOMLY)
    assert ended.returncode == 0, ended.stdout


def test_pins_do_not_import_numpy_where_the_project_does_not(project: Path) -> None:
    plant_numpy(project)
    text = """\
        import sys

        def test_a(): assert not [name for name in sys.modules if name.partition(".")[0] == "numpy"]
        def test_b(pinned_environment): test_a()
    """
    plant(project, {"test_a.py": text})
    ended = run_pytest(project, *WITHOUT_RANDOMLY)
    assert ended.returncode == 0, ended.stdout

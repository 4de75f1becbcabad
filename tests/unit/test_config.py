"""Reading the configuration: where it is from, what goes over what, and every fault at once."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from paritygate.config import file as config_file
from paritygate.config import reference as config_reference
from paritygate.config.file import Overrides
from paritygate.config.settings import LOCAL_LIKE, SERVER_LIKE, EnvironmentSettings, ImageSettings, Settings
from paritygate.errors import ConfigError, UsageError
from paritygate.outcomes.words import ExitCode, OrderRule, Worktree

DOCS = Path(__file__).parents[2] / "docs"


def load(project: Path, own: str | None = None, shared: str | None = None) -> config_file.Loaded:
    if own is not None:
        (project / "paritygate.toml").write_text(own, encoding="utf-8")
    if shared is not None:
        (project / "pyproject.toml").write_text(shared, encoding="utf-8")
    return config_file.load(project)


def problems(project: Path, own: str) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        load(project, own)
    assert caught.value.exit_code is ExitCode.USAGE
    return caught.value.problems


def test_a_project_that_says_nothing_has_the_defaults(tmp_path: Path) -> None:
    loaded = load(tmp_path, shared='[project]\nname = "x"\n')
    assert loaded.settings == Settings()
    assert loaded.source == ""
    assert list(loaded.settings.environments) == ["local-like", "server-like"]
    assert loaded.notes == ()


def test_every_key_is_read_from_a_file_of_its_own(tmp_path: Path) -> None:
    loaded = load(
        tmp_path,
        """
selection = ["tests/unit", "-k", "ledger"]
attempts = 3
seeds = [0, 4294967295]
order = "seeded"
report = "out/report.json"
network = true
include = [".env.test"]
cell-timeout = 60
test-timeout = 1.5
idle-timeout = 30
processes = 64
memory = "1g"
shared-memory = "64m"
open-files = 1024

[image]
base = "python:3.12-slim"
python = "3.12"
system-packages = ["libpq-dev"]
install = ["pip install -r requirements.txt"]
install-project = "make install"
extra-ca-certs = "certs/ca.pem"

[environments.here]
timezone = "Asia/Kolkata"
locale = "de_DE.utf8"
case_sensitive = "any"
workers = "auto"
worktree = "dirty"
cpus = 1
memory = "512m"
umask = "077"
variables = {CI = "true"}
""",
    )
    assert loaded.source == "paritygate.toml"
    assert loaded.notes == ("not run, since other environments are configured: `local-like`, `server-like`",)
    assert loaded.settings == Settings(
        selection=("tests/unit", "-k", "ledger"),
        attempts=3,
        seeds=(0, 4294967295),
        order=OrderRule.SEEDED,
        report="out/report.json",
        network=True,
        include=(".env.test",),
        cell_timeout=60.0,
        test_timeout=1.5,
        idle_timeout=30.0,
        processes=64,
        memory="1g",
        shared_memory="64m",
        open_files=1024,
        image=ImageSettings(
            base="python:3.12-slim",
            python="3.12",
            system_packages=("libpq-dev",),
            install=("pip install -r requirements.txt",),
            install_project="make install",
            extra_ca_certs="certs/ca.pem",
        ),
        environments={
            "here": EnvironmentSettings(
                timezone="Asia/Kolkata",
                locale="de_DE.UTF-8",
                case_sensitive="any",
                workers="auto",
                worktree=Worktree.DIRTY,
                cpus=1.0,
                memory="512m",
                umask="077",
                variables={"CI": "true"},
            )
        },
    )


def test_the_shared_file_is_read_where_it_has_our_table(tmp_path: Path) -> None:
    loaded = load(tmp_path, shared="[tool.paritygate]\r\nattempts = 4\r\n")
    assert loaded.settings.attempts == 4
    assert loaded.source == "pyproject.toml [tool.paritygate]"


def test_two_configurations_are_an_error_that_says_which_to_delete(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, own="", shared="[tool.paritygate]\n")
    assert caught.value.problems == (
        "`[tool.paritygate]` in `pyproject.toml` configures the same; delete that table or this file",
    )


def test_a_table_named_like_a_default_changes_only_what_it_gives_and_the_pair_stays(tmp_path: Path) -> None:
    loaded = load(tmp_path, '[environments.server-like]\ntimezone = "America/New_York"\n')
    assert loaded.settings.environments == {
        "local-like": LOCAL_LIKE,
        "server-like": msgspec.structs.replace(SERVER_LIKE, timezone="America/New_York"),
    }
    assert list(loaded.settings.environments) == ["local-like", "server-like"]


def test_with_a_name_of_its_own_exactly_the_named_environments_run(tmp_path: Path) -> None:
    loaded = load(tmp_path, "[environments.ci]\nworkers = 4\n[environments.local-like]\nworkers = 1\n")
    assert loaded.settings.environments == {
        "ci": EnvironmentSettings(workers=4),
        "local-like": msgspec.structs.replace(LOCAL_LIKE, workers=1),
    }
    assert loaded.notes == ("not run, since other environments are configured: `server-like`",)


def test_all_faults_are_reported_at_once_with_their_paths_and_near_misses(tmp_path: Path) -> None:
    found = problems(
        tmp_path,
        """
selecton = ["x"]
timezone = "UTC"
base = "x"
attempts = 0
seeds = [1, -1, "x"]
cell-timeout = -1
idle_timeout = 3
memory = "lots"
order = "reverse"
network = "yes"
report = 2020-01-01
[image]
system-packages = ["a", 3]
[environments]
bare = 3
[environments.local-like]
timezne = "UTC"
timezone = "Asia/Shangai"
workers = -1
case_sensitive = "yes"
worktree = "drity"
umask = 22
[environments."a b"]
locale = "en_US"
variables = {LC_ALL = "x", A = 3}
cpus = true
umask = "999"
""",
    )
    assert found == (
        "`selecton`: there is no such key; did you mean `selection`?",
        "`timezone`: there is no such key; it belongs to `environments.NAME`",
        "`base`: there is no such key; it belongs to `image`",
        "`attempts`: expected a whole number from 1 up, got `0`",
        "`seeds[1]`: expected a whole number from 0 to 4294967295, got `-1`",
        '`seeds[2]`: expected a whole number from 0 to 4294967295, got `"x"`',
        "`cell-timeout`: expected a number greater than 0, got `-1`",
        "`idle_timeout`: there is no such key; did you mean `idle-timeout`?",
        '`order`: expected `"reversed"` or `"seeded"`, got `"reverse"`; did you mean `reversed`?',
        '`network`: expected `true` or `false`, got `"yes"`',
        "`report`: expected text, got `2020-01-01`",
        "`image.system-packages[1]`: expected text, got `3`",
        "`environments.bare`: expected a table, got `3`",
        "`environments.local-like.timezne`: there is no such key; did you mean `timezone`?",
        '`environments.local-like.workers`: expected a whole number from 0 up or `"auto"`, got `-1`',
        '`environments.local-like.case_sensitive`: expected `true` or `false` or `"any"`, got `"yes"`',
        '`environments.local-like.worktree`: expected `"dirty"` or `"clean"`, got `"drity"`; did you mean `dirty`?',
        "`environments.local-like.umask`: expected text, got `22`",
        '`environments."a b".variables.A`: expected text, got `3`',
        '`environments."a b".cpus`: expected a number from 0 up, got `true`',
        "`memory`: `lots` is not an amount of memory: write `512m`, `2g` or a number of bytes",
        "`environments.local-like.timezone`: `Asia/Shangai` is not a zone of the tz database; did you mean `Asia/Shanghai`?",
        '`environments."a b"`: a name has up to 40 letters, digits, `-`, `_` and `.`, the first a letter or a digit',
        (
            '`environments."a b".locale`: `en_US` is not a locale: write `C`, `POSIX`, `C.UTF-8` or a name such as '
            "`de_DE.UTF-8`; did you mean `en_US.UTF-8`?"
        ),
        '`environments."a b".umask`: `999` is not a umask: write three octal digits as text, such as `"022"`',
        '`environments."a b".variables.LC_ALL`: `LC_ALL` cannot be set here: the `locale` axis sets it',
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("attempts = true", "`attempts`: expected a whole number from 1 up, got `true`"),
        ("attempts = 2.0", "`attempts`: expected a whole number from 1 up, got `2.0`"),
        ("test-timeout = 0", "`test-timeout`: expected a number greater than 0, got `0`"),
        ("test-timeout = nan", "`test-timeout`: expected a number greater than 0, got `nan`"),
        ("test-timeout = inf", "`test-timeout`: expected a number of seconds, got `inf`"),
        ('selection = "tests"', '`selection`: expected an array of texts, got `"tests"`'),
        ("selection = [[]]", "`selection[0]`: expected text, got an empty array"),
        (
            "image.install-project = ''",
            "`image.install-project`: expected a command, got nothing; `false` leaves the project as it lies",
        ),
        ('image.python = "2.7"', "`image.python`: expected a version of CPython from 3.8 up, such as `3.12`, got `2.7`"),
        ('image.python = "3.7.9"', "`image.python`: expected a version of CPython from 3.8 up, such as `3.12`, got `3.7.9`"),
        ('image.python = "latest"', "`image.python`: expected a version of CPython from 3.8 up, such as `3.12`, got `latest`"),
        ("image.install-project = 3", "`image.install-project`: expected `true` or `false` or text, got `3`"),
        ("image = []", "`image`: expected a table, got an empty array"),
        ("environments = 1", "`environments`: expected tables such as `[environments.NAME]`, got `1`"),
        ('shared-memory = ""', "`shared-memory`: expected an amount such as `1g`, got nothing"),
        ('report = ""', "`report`: expected the path of a file, got nothing"),
        (
            'engines = ["/run/docker.sock"]',
            "`engines`: expected a Docker context, or an address such as `tcp://HOST:2376`, got `/run/docker.sock`",
        ),
        ('engines = ["a", "b", "a"]', "`engines`: each can be named once"),
        (
            '[environments.x]\nengine = "a b"',
            "`environments.x.engine`: expected a Docker context, or an address such as `tcp://HOST:2376`, got `a b`",
        ),
        (
            '[environments.x]\nengine = "a"\nrunner = "ssh"',
            '`environments.x.engine`: cells run on an engine with `runner = "docker"` alone, and this has `ssh`',
        ),
        (
            'runner = "host"\n[environments.x]\nengine = "a"',
            '`environments.x.engine`: cells run on an engine with `runner = "docker"` alone, and this has `host`',
        ),
        (
            "environments = {}",
            "`environments`: there are none; name at least one, or leave the table out to have `local-like` and `server-like`",
        ),
        ("[environments.x]\ncpus = inf", "`environments.x.cpus`: expected a number of processors, got `inf`"),
        (
            '[environments.x]\nclock = "noon"',
            "`environments.x.clock`: `noon` is not a local time: write it as `2028-02-29T23:59:30`",
        ),
        (
            '[environments.x]\ntimezone = "Europe/Berlin"\nclock = "2027-03-28T02:30:00"',
            "`environments.x.clock`: `2027-03-28T02:30:00` does not exist in `Europe/Berlin`: clocks are put forward then",
        ),
        ("[environments.x]\nvariables = 1", "`environments.x.variables`: expected a table of texts, got `1`"),
        (
            '[environments.x.variables]\nA = "\\u0000"',
            "`environments.x.variables.A`: a variable cannot hold a null character",
        ),
    ],
)
def test_a_single_fault_is_said_with_its_path(tmp_path: Path, text: str, problem: str) -> None:
    assert problems(tmp_path, text) == (problem,)


def test_a_wrong_table_of_ours_in_the_shared_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, shared="tool.paritygate = 3\n")
    assert caught.value.problems == ("`tool.paritygate`: expected a table, got `3`",)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"attempts = 2\nx = = 3\n", "line 2, column 5: it is not TOML: invalid value"),
        (b"a = 1\nx = [1,", "line 2, column 8: it is not TOML: invalid value"),
        (b"umask = 022\n", "line 1, column 10: it is not TOML: expected newline or end of document after a statement"),
        (b"a = 1\nb = '\xff'\n", "line 2: it is not UTF-8, which TOML has to be"),
    ],
)
def test_a_file_that_is_not_toml_is_reported_with_the_place(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "paritygate.toml").write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        config_file.load(tmp_path)
    assert caught.value.message == f"1 problem in `paritygate.toml`:\n  {problem}"


def test_a_file_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    (tmp_path / "paritygate.toml").mkdir()
    with pytest.raises(ConfigError, match="it cannot be read: is a directory"):
        config_file.load(tmp_path)


def test_variables_are_read() -> None:
    variables = {
        "PARITY_SELECTION": "tests/unit -k 'a and b'",
        "PARITY_ATTEMPTS": "3",
        "PARITY_SEED_A": "7",
        "PARITY_SEED_B": " 8 ",
        "PARITY_ENGINES": "default  tcp://far:2376 default",
        "HOME": "/root",
    }
    assert config_file.overrides_from_variables(variables) == Overrides(
        selection=("tests/unit", "-k", "a and b"), attempts=3, seeds=(7, 8), engines=("default", "tcp://far:2376")
    )


def test_an_empty_variable_is_as_good_as_none() -> None:
    names = ("PARITY_SELECTION", "PARITY_ATTEMPTS", "PARITY_SEED_A", "PARITY_SEED_B", "PARITY_ENGINES")
    assert config_file.overrides_from_variables(dict.fromkeys(names, "")) == Overrides()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "PARITY_SELECTION",
            "tests -k 'a",
            "`PARITY_SELECTION` cannot be split into words as a shell would: no closing quotation",
        ),
        ("PARITY_ATTEMPTS", "two", '`PARITY_ATTEMPTS` is `"two"`, which is not a whole number'),
        ("PARITY_ATTEMPTS", "-1", '`PARITY_ATTEMPTS` is `"-1"`, which is not a whole number'),
        ("PARITY_SEED_B", "1e3", '`PARITY_SEED_B` is `"1e3"`, which is not a whole number'),
    ],
)
def test_a_bad_variable_is_named(name: str, text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        config_file.overrides_from_variables({name: text})
    assert caught.value.message == message
    assert caught.value.hint


def test_engines_of_the_variables_go_over_those_of_the_file_and_one_that_is_given_over_all() -> None:
    own = {"x": EnvironmentSettings(engine="own")}
    settings = Settings(engines=("a", "b"), environments=own)
    pool = config_file.apply(settings, Overrides(engines=("c",)))
    assert (pool.engines, pool.environments) == (("c",), own)
    alone = config_file.apply(pool, Overrides(one_engine=True))
    assert (alone.engines, alone.environments["x"].engine) == ((), "")


def test_overrides_go_over_the_file_and_each_over_the_one_before() -> None:
    settings = Settings(selection=("a",), attempts=2, seeds=(1, 2, 3), report="r.json")
    from_variables = config_file.apply(settings, Overrides(selection=("b",), attempts=3, seeds=(None, 9)))
    from_line = config_file.apply(
        from_variables, Overrides(attempts=4, cell_timeout=5.0, report="s.json", environments=("local-like",))
    )
    assert from_line == msgspec.structs.replace(
        settings,
        selection=("b",),
        attempts=4,
        seeds=(1, 9, 3),
        cell_timeout=5.0,
        report="s.json",
        environments={"local-like": LOCAL_LIKE},
    )


def test_empty_overrides_change_nothing() -> None:
    assert config_file.apply(Settings(), Overrides()) == Settings()


def test_an_axis_that_is_left_out_has_the_last_environment_s_value_everywhere_and_case_any() -> None:
    settings = config_file.apply(Settings(), Overrides(without_axes=("timezone", "case_sensitive")))
    assert [(each.timezone, each.case_sensitive, each.locale) for each in settings.environments.values()] == [
        ("UTC", "any", "en_US.UTF-8"),
        ("UTC", "any", "C.UTF-8"),
    ]


def test_a_clock_that_is_left_out_is_true_everywhere() -> None:
    then = msgspec.structs.replace(SERVER_LIKE, clock="2028-02-29T12:00:00")
    settings = Settings(environments={"now": LOCAL_LIKE, "then": then})
    left_out = config_file.apply(settings, Overrides(without_axes=("clock",)))
    assert [each.clock for each in left_out.environments.values()] == ["", ""]


@pytest.mark.parametrize(
    ("overrides", "message", "hint"),
    [
        (
            Overrides(environments=("server-lik",)),
            "the command line asks for environment `server-lik`; did you mean `server-like`?",
            "there are `local-like`, `server-like`",
        ),
        (
            Overrides(without_axes=("timezon",)),
            "the command line leaves out the axis `timezon`; did you mean `timezone`?",
            (
                "there are `case_sensitive`, `clock`, `cpus`, `directory_order`, `locale`, `memory`, `timezone`, `umask`, "
                "`variables`, `workers`, `worktree`"
            ),
        ),
        (Overrides(attempts=0), "the command line asks for 0 attempts", "one is the least, two can show a nondeterminism"),
        (Overrides(cell_timeout=0.0), "the command line sets a timeout of 0 seconds", "give a number greater than 0"),
        (Overrides(cell_timeout=float("nan")), "the command line sets a timeout of nan seconds", "give a number greater than 0"),
        (Overrides(seeds=(2**32,)), "the command line gives seed 4294967296", "a seed is a number from 0 to 4294967295"),
        (
            Overrides(seeds=(None, 1)),
            "the command line gives a seed for attempt 2 and none for attempt 1",
            "give both, or neither",
        ),
    ],
)
def test_overrides_that_cannot_be_are_refused(overrides: Overrides, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        config_file.apply(Settings(), overrides)
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_the_configuration_page_is_up_to_date() -> None:
    written = (DOCS / "configuration.md").read_text(encoding="utf-8")
    assert written == config_reference.render(), "run `python docs/configuration.py`"

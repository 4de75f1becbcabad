"""What doctor says of this computer beside an engine: each thing with what to do about it."""

from __future__ import annotations

import sys
from pathlib import Path
from unittest import mock

import msgspec
import pytest

from paritygate import doctor, machine
from paritygate.config.settings import EnvironmentSettings, Settings
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import EngineUnavailableError
from paritygate.machine import Row
from tests.support.fake_engine import FakeEngine
from tests.support.patches import write

PLAIN = EnvironmentSettings()
CLIENT = """\
#!/bin/sh
[ "$1" = -V ] && { echo "OpenSSH_9, x" >&2; exit 0; }
echo "a@b: Permission denied (publickey)." >&2
exit 255
"""
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="cells outside of containers take Linux")


def row(label: str, settings: Settings, project: Path, variables: dict[str, str] | None = None) -> Row:
    found = machine.rows(settings, project, variables or {"PATH": "/usr/bin:/bin"}, FakeEngine().info)
    return next(each for each in found if each.label == label)


def settings(**environment: object) -> Settings:
    return Settings(environments={"only": msgspec.structs.replace(PLAIN, **environment)})


def test_room_is_said_with_its_place(tmp_path: Path) -> None:
    said = row("temporary", settings(), tmp_path, {"TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin"})
    assert said.said.endswith(f"GiB free in `{tmp_path}`")
    assert said.hints == ()


def test_too_little_room_has_a_hint(tmp_path: Path) -> None:
    with mock.patch("shutil.disk_usage", return_value=mock.Mock(free=machine.GIGABYTE // 2)):
        said = row("temporary", settings(), tmp_path)
    assert said.said.startswith("0.5 GiB free in ")
    assert said.hints == ("make room, or set `TMPDIR`",)


def test_of_another_computers_disk_nothing_is_said(tmp_path: Path) -> None:
    labels = [each.label for each in machine.rows(settings(), tmp_path, {"PATH": "/usr/bin:/bin"}, FakeEngine().info)]
    assert "images" not in labels


@LINUX
def test_what_this_computer_itself_could_not_vary_is_named(tmp_path: Path) -> None:
    said = row("without engine", settings(locale="xx_XX.UTF-8"), tmp_path)
    assert said.well
    assert said.said.startswith("cells on this computer itself, by Python 3.")
    assert said.notes == ()
    both = Settings(environments={"one": PLAIN, "two": msgspec.structs.replace(PLAIN, locale="xx_XX.UTF-8")})
    (note,) = row("without engine", both, tmp_path).notes
    assert note.startswith("locale could not vary: this computer has no locale `xx_XX.UTF-8`")


@LINUX
def test_an_interpreter_that_is_not_there_is_no_place_for_cells(tmp_path: Path) -> None:
    wrong = msgspec.structs.replace(settings(), host=msgspec.structs.replace(Settings().host, python="gone/python"))
    said = row("without engine", wrong, tmp_path)
    assert not said.well
    assert "gone/python" in said.said


def test_ssh_is_not_tried_where_nothing_runs_over_it(tmp_path: Path) -> None:
    assert row("ssh", settings(), tmp_path, {"PATH": str(tmp_path)}).said == "no client; no environment runs over it"


@pytest.mark.parametrize(
    ("target", "path", "said", "hint"),
    [
        ("somebody@nowhere", "", "no client, and an environment runs over it", "install the OpenSSH client"),
        ("", "ssh", "OpenSSH_9; no computer is named", "name it with `target` of the environment, or in `PARITY_SSH_TARGET`"),
        ("a@b", "ssh", "no connection to `a@b`: it refuses the key", "ssh -o BatchMode=yes a@b true"),
    ],
    ids=["no client", "no target", "refused"],
)
def test_what_is_wrong_with_ssh_has_a_hint(tmp_path: Path, target: str, path: str, said: str, hint: str) -> None:
    client = tmp_path / "ssh"
    if path:
        client.write_text(CLIENT, encoding="utf-8")
        client.chmod(0o755)
    found = row("ssh", settings(runner="ssh", target=target), tmp_path, {"PATH": str(tmp_path)})
    assert not found.well
    assert found.said == said
    assert hint in found.hints[0]


def test_two_computers_are_a_finding(tmp_path: Path) -> None:
    client = tmp_path / "ssh"
    client.write_text(CLIENT, encoding="utf-8")
    client.chmod(0o755)
    far = [msgspec.structs.replace(PLAIN, runner="ssh", target=target) for target in ("one", "two")]
    found = row("ssh", Settings(environments=dict(zip("ab", far, strict=True))), tmp_path, {"PATH": str(tmp_path)})
    assert not found.well
    assert found.said == "OpenSSH_9; several computers are named: `one`, `two`"
    assert found.hints == ("give all environments with `ssh` one `target`",)


def test_of_case_doctor_names_no_image_where_cells_have_none(tmp_path: Path) -> None:
    def of_case(runner: str) -> str:
        write(
            tmp_path, "paritygate.toml", f'[environments.one]\ncase_sensitive = false\n[environments.two]\nrunner = "{runner}"\n'
        )
        text = doctor.examine(tmp_path, FakeEngine, {"PATH": str(tmp_path)}).text
        return next(line for line in text.splitlines() if "case_sensitive:" in line).strip()

    assert of_case("docker") == "case_sensitive: not tried yet: `paritygate images build` makes the image"
    assert of_case("ssh") == "case_sensitive: not varied: no filesystem that folds case can be had over ssh"


def no_engine() -> Engine:
    raise EngineUnavailableError("no engine answers")


@LINUX
def test_without_an_engine_doctor_says_what_a_run_would_do(tmp_path: Path) -> None:
    write(tmp_path, "paritygate.toml", '[environments.one]\n[environments.two]\ntimezone = "Asia/Tokyo"\n')
    variables = {"PATH": "/usr/bin:/bin"}
    said = doctor.examine(tmp_path, no_engine, variables)
    assert said.usable, said.text
    assert "a run takes this computer itself then" in said.text
    assert "hint: start Docker" in said.text
    strict = doctor.examine(tmp_path, no_engine, variables | {"CI": "true"})
    assert not strict.usable
    assert "a run takes this computer itself then" not in strict.text

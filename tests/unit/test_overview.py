"""What `paritygate` and `paritygate --help` say to somebody who meets it for the first time."""

from __future__ import annotations

from pathlib import Path

import paritygate.cli.main
from paritygate.cli.commands import program
from paritygate.cli.overview import SECTIONS
from tests.support.command_line import call


def test_every_command_is_in_exactly_one_section() -> None:
    assert callable(paritygate.cli.main.main)  # which adds the last of them
    listed = [name for section in SECTIONS.values() for name in section]
    assert sorted(listed) == sorted(program.commands)


def test_help_says_what_each_command_does_on_a_line_of_eighty_columns(tmp_path: Path) -> None:
    said = call(tmp_path, "--help")
    assert said.code == 0
    assert "..." not in said.out.partition("Start here")[2]
    assert max(map(len, said.out.splitlines())) <= 80
    assert said.out.index("selfcheck") < said.out.index("run ") < said.out.index("verify ")


def test_without_a_command_the_first_steps_are_named(tmp_path: Path) -> None:
    said = call(tmp_path)
    assert said.code == 64
    assert "`paritygate selfcheck`" in said.err
    assert "`paritygate init`" in said.err

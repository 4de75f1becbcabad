"""The commands as the program has them, for whoever holds words against them."""

from __future__ import annotations

import click

import paritygate.cli.main  # noqa: F401  # it adds the commands that have modules of their own
from paritygate.cli.commands import program


def found(path: list[str]) -> tuple[click.Command, list[str]]:
    """Follow the words of a command line into the tree of commands; give the command and what is left of the words."""
    command: click.Command = program
    rest = [*path]
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        name = rest.pop(0)
        assert name in command.commands, f"there is no command `{name}` in `{' '.join(path)}`"
        command = command.commands[name]
    return command, rest


def options_of(command: click.Command) -> set[str]:
    return {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)} | {"--help", "--debug"}


def every_command(command: click.Command = program) -> list[click.Command]:
    inner = command.commands.values() if isinstance(command, click.Group) else ()
    return [command, *(deeper for each in inner for deeper in every_command(each))]

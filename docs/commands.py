"""Write `commands.md` beside this file anew, from the commands themselves, so that it cannot say anything else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from paritygate.cli.main import (
    program,
)  # rather than from where it is made: there, commands that have modules of their own are added

PAGE = Path(__file__).with_suffix(".md")
INTRODUCTION = """\
# Commands

<!-- Generated from the program by `python docs/commands.py`; a test compares them. -->

What each command is for, and its options. `paritygate COMMAND --help` says the same. Every command ends with the codes of the
[README](../README.md#reading-the-verdict); where one gives them another meaning, its text
says so. `--debug` shows tracebacks and a log of what is done, with every command.
"""


def commands() -> Iterator[tuple[str, click.Command]]:
    """Give every command by its words, those of groups one by one."""
    for name, command in sorted(program.commands.items()):
        if isinstance(command, click.Group):
            yield from ((f"{name} {inner}", each) for inner, each in sorted(command.commands.items()))
        else:
            yield name, command


def summary(command: click.Command) -> str:
    """Give the first paragraph of what a command says of itself."""
    return " ".join((command.help or "").split("\n\n")[0].split())


def anchor(name: str) -> str:
    """Say by what name a heading of a command is linked."""
    return f"paritygate-{name.replace(' ', '-')}"


def argument(parameter: click.Argument) -> str:
    """Write an argument as a usage line does."""
    word = (parameter.name or "").upper() if parameter.metavar is None else parameter.metavar
    repeated = f"{word.removesuffix('...')}..." if parameter.nargs == -1 else word
    return repeated if parameter.required else f"[{repeated}]"


def value(parameter: click.Option) -> str:
    """Say what an option takes after its name; empty for a flag."""
    if parameter.is_flag or parameter.count:
        return ""
    if parameter.metavar is not None:
        return parameter.metavar
    if isinstance(parameter.type, click.Choice):
        return " \\| ".join(str(each) for each in parameter.type.choices)
    plain = parameter.type.name.replace(" range", "").upper()
    return {"TEXT": (parameter.name or "").upper(), "FLOAT": "NUMBER"}.get(plain, plain)


def option(parameter: click.Option) -> str:
    """Write an option's row."""
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    taken = value(parameter)
    needed = " Required." if parameter.required else ""
    return f"| {names}{f' {taken}' if taken else ''} | {' '.join((parameter.help or '').split())}{needed} |"


def section(name: str, command: click.Command) -> Iterator[str]:
    """Write all of one command."""
    arguments = [argument(each) for each in command.params if isinstance(each, click.Argument)]
    options = [each for each in command.params if isinstance(each, click.Option) and not each.hidden and each.opts != ["--debug"]]
    words = ["paritygate", name, *(["[OPTIONS]"] if options else []), *arguments]
    yield f"## `paritygate {name}`\n"
    yield f"`{' '.join(words)}`\n"
    for paragraph in (command.help or "").split("\n\n"):
        yield f"{' '.join(paragraph.split())}\n"
    if options:
        yield "| option | meaning |"
        yield "|---|---|"
        yield from (option(each) for each in options)
        yield ""


def render() -> str:
    """Write the whole page."""
    lines = [INTRODUCTION, "| command | what it does |", "|---|---|"]
    for name, command in commands():
        lines.append(f"| [`{name}`](#{anchor(name)}) | {summary(command)} |")
    lines.append("")
    for name, command in commands():
        lines.extend(section(name, command))
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")

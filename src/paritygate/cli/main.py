"""The way from the words of a command line to an exit code: every error is said once, and click's codes never leak out."""

from __future__ import annotations

import logging
import re
import sys
import traceback
from collections.abc import Callable, Sequence

import click

from paritygate import process
from paritygate.axes import near_miss
from paritygate.cli.cells import cell
from paritygate.cli.commands import program
from paritygate.cli.completing import completion
from paritygate.cli.initializing import initialize
from paritygate.cli.overview import FIRST_STEPS
from paritygate.cli.pasting import command as paste_command
from paritygate.cli.pasting import ingest
from paritygate.cli.selfchecking import selfcheck
from paritygate.cli.sweeps import sweep
from paritygate.cli.user import say_error
from paritygate.errors import NoVerdictError, ParityError, UsageError
from paritygate.outcomes.words import ExitCode

MISSING = "Missing command"
_NO_COMMAND = re.compile(r"No such command `(?P<name>[^`]*)`")

program.add_command(cell)
program.add_command(paste_command)
program.add_command(ingest)
program.add_command(sweep)
program.add_command(completion)
program.add_command(selfcheck)
program.add_command(initialize)


def misused(error: click.ClickException, arguments: Sequence[str]) -> UsageError:
    """Say in our words what click finds wrong with a command line."""
    message = re.sub(r"'([^']*)'", r"`\1`", error.format_message()).rstrip(".").replace(". Did", "; did")
    if isinstance(error, click.NoSuchOption):
        message = f"there is no option `{error.option_name}`{near_miss(error.option_name, frozenset(error.possibilities or ()))}"
    if found := _NO_COMMAND.match(message):
        commands = error.ctx.command if isinstance(error, click.UsageError) and error.ctx is not None else program
        known = frozenset(commands.commands) if isinstance(commands, click.Group) else frozenset[str]()
        message = f"there is no command `{found['name']}`{near_miss(found['name'], known)}"
    if message == MISSING and not arguments:
        return UsageError("missing command", FIRST_STEPS)
    named = [each for each in arguments[:1] if each in program.commands]
    context = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx is not None else ""
    command = context or " ".join(("paritygate", *named))
    return UsageError(f"{message[:1].lower()}{message[1:]}", f"`{command} --help` says what there is")


def invoke(arguments: list[str]) -> object:
    """Run the command that the arguments name."""
    try:
        return program.main(arguments, "paritygate", standalone_mode=False)
    except click.ClickException as error:
        raise misused(error, arguments) from error


def outcome_of(command: Callable[[], object], *, debug: bool) -> int:
    """Run a command to its exit code, with every error said once."""
    try:
        with process.ending_on_signals():
            code = command()
    except ParityError as error:
        if debug:
            traceback.print_exc()
        say_error(error)
        return error.exit_code
    except click.Abort:
        return ExitCode.INTERRUPTED
    except Exception as error:  # noqa: BLE001  # the last line of defence: a fault of ours has a code of its own
        traceback.print_exc()
        say_error(ParityError(f"this is a fault of paritygate: {error!r}", "please report it, with the lines above"))
        return ExitCode.FAULT
    return code if isinstance(code, int) else ExitCode.PARITY


def answered(code: int) -> int:
    """Say the exit code of a command whose answer went to stdout: at least 4 where it could not be written."""
    error = process.lost(sys.stdout)
    if error is None:
        return code
    say_error(
        NoVerdictError(f"the answer could not be written to stdout: {error.strerror}", "make room there, or write elsewhere")
    )
    return max(code, ExitCode.NO_VERDICT)


def main(argv: list[str] | None = None) -> None:
    """Run the program and leave the process with its exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    end = arguments.index("--") if "--" in arguments else len(arguments)
    debug = "--debug" in arguments[:end]
    # Only who asks for the log is told which module speaks; what everybody has to know is said as all else is.
    form = "%(name)s: %(message)s" if debug else "warning: %(message)s"
    logging.basicConfig(level=logging.DEBUG if debug else logging.WARNING, format=form, stream=sys.stderr)
    for chatty in ("urllib3", "docker"):
        logging.getLogger(chatty).setLevel(logging.INFO if debug else logging.ERROR)
    arguments = [each for each in arguments[:end] if each != "--debug"] + arguments[end:]
    sys.exit(answered(outcome_of(lambda: invoke(arguments), debug=debug)))

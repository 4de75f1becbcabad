"""`paritygate completion`: what a shell has to be told so that it completes commands, options and files."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from paritygate.cli.commands import program
from paritygate.errors import UsageError
from paritygate.outcomes.words import ExitCode

NAME = "paritygate"
VARIABLE = "_PARITYGATE_COMPLETE"
"""By which the shell asks the program what there is; click takes it from the program's name."""
SHELLS = {
    "bash": 'eval "$(paritygate completion bash)"   # in ~/.bashrc',
    "zsh": 'eval "$(paritygate completion zsh)"   # in ~/.zshrc, after compinit',
    "fish": "paritygate completion fish | source   # in ~/.config/fish/config.fish",
}


@click.command("completion", epilog="\b\n" + "\n".join(SHELLS.values()))
@click.argument("shell", type=click.Choice([*SHELLS]))
def completion(shell: str) -> int:
    """Print what makes SHELL complete commands, options and files of paritygate."""
    made = get_completion_class(shell)
    if made is None:
        raise UsageError(f"this version of click knows nothing of `{shell}`", "update click")
    click.echo(made(program, {}, NAME, VARIABLE).source())
    return ExitCode.PARITY

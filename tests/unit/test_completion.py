"""Shells complete commands, options and files once they are told what `paritygate completion` prints."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paritygate.cli.completing import SHELLS
from tests.support.command_line import call
from tests.support.samples import clean_environment

ASK = {
    "bash": """\
eval "$(paritygate completion bash)"
COMP_WORDS=({words}); COMP_CWORD={last}; COMPREPLY=()
compopt() {{ printf 'compopt %s %s\\n' "$@"; }}
_paritygate_completion paritygate
printf '%s\\n' "${{COMPREPLY[@]}}"
""",
    "fish": 'paritygate completion fish | source\ncomplete --do-complete "{line}"\n',
}


@pytest.fixture
def shell_path(tmp_path: Path) -> str:
    """Give a PATH on which the program is, as after an installation."""
    program = tmp_path / "bin" / "paritygate"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m paritygate "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return f"{program.parent}:{clean_environment().get('PATH', '')}"


def completed(shell: str, path: str, *words: str) -> list[str]:
    script = ASK[shell].format(words=" ".join(f"'{word}'" for word in words), last=len(words) - 1, line=" ".join(words))
    done = subprocess.run(
        (shell, "-c", script),
        env=clean_environment() | {"PATH": path},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return [line.split("\t")[0] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("shell", sorted(ASK))
def test_a_shell_completes_commands_and_options(shell: str, shell_path: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert completed(shell, shell_path, "paritygate", "self") == ["selfcheck"]
    assert {"--plan", "--pytest-arg"} <= {*completed(shell, shell_path, "paritygate", "run", "--p")}


def test_bash_completes_words_of_an_option_and_leaves_files_to_itself(shell_path: str) -> None:
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    assert completed("bash", shell_path, "paritygate", "report", "r.json", "--format", "j") == ["junit", "json"]
    assert "compopt -o default" in completed("bash", shell_path, "paritygate", "report", "r")


def test_zsh_takes_what_is_printed(shell_path: str) -> None:
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    script = 'autoload -U compinit; compinit -u; eval "$(paritygate completion zsh)"; echo ${_comps[paritygate]}'
    done = subprocess.run(
        ("zsh", "-f", "-c", script), env=clean_environment() | {"PATH": shell_path}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "_paritygate_completion"


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_that_is_offered_is_told_something(shell: str, tmp_path: Path) -> None:
    said = call(tmp_path, "completion", shell)
    assert said.code == 0
    assert "_PARITYGATE_COMPLETE" in said.out


def test_another_shell_is_refused(tmp_path: Path) -> None:
    said = call(tmp_path, "completion", "tcsh")
    assert said.code == 64
    assert "`bash`, `zsh`, `fish`" in said.err

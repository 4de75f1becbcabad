"""`paritygate init`: a configuration and a nox session for a project, shown before they are written."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import click

from paritygate import places
from paritygate.cli.options import DEBUG, PROJECT
from paritygate.cli.user import absolute
from paritygate.errors import UsageError
from paritygate.outcomes.words import ExitCode
from paritygate.proposal.looking import Seen, look
from paritygate.proposal.proposing import Proposal, propose
from paritygate.reports.text import spell_out

NEXT = "next: `paritygate doctor` says what this machine offers, `paritygate run` gates the project"


@click.command("init")
@PROJECT
@click.option("--yes", "-y", is_flag=True, help="Write without asking.")
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@DEBUG
def initialize(*, project: str, yes: bool, dry_run: bool) -> int:
    """Look at the project, propose a configuration and a session of nox, and write them once you agree.

    What is there stays as it is: text is added at the end of a file, or a new file is made.
    """
    if yes and dry_run:
        raise UsageError("`--yes` and `--dry-run` exclude each other", "give one of them")
    seen = look(absolute(project).resolve(), dict(os.environ))
    proposal = propose(seen)
    for line in (*described(seen), *shown(proposal)):
        click.echo(line)
    if not proposal.writings:
        click.echo(f"nothing to write; {NEXT}")
    elif not dry_run and (yes or agreed()):
        for each in proposal.writings:
            places.write(each.content.encode("utf-8", "surrogateescape"), seen.project / each.name)
            click.echo(f"{'wrote' if each.is_new else 'added to'} {each.name}")
        click.echo(NEXT)
    else:
        click.echo("nothing was written")
    return ExitCode.PARITY


def described(seen: Seen) -> Iterator[str]:
    """Say in a few lines what the project looks like."""
    files = f"{len(seen.tests)} file{'s' * (len(seen.tests) != 1)}"
    folders = ", ".join(dict.fromkeys(f"{path.partition('/')[0]}/" if "/" in path else "." for path in seen.tests))
    wants = f", wants {seen.requires_python}" if seen.requires_python else ""
    repository = "in git" if seen.in_git else "not in git, so that nothing tells what a fresh clone would lack"
    yield f"project  {spell_out(seen.name)}, {repository}"
    yield f"python   {seen.python}{spell_out(wants)}"
    configured = f"pytest is configured in {seen.pytest_file}" if seen.pytest_file else "pytest is not configured"
    yield f"tests    {files}{f' in {spell_out(folders)}' if folders else ''}; {configured}"
    yield f"needs    {spell_out(seen.dependencies)}"


def shown(proposal: Proposal) -> Iterator[str]:
    """Show what would be written, and what is there already."""
    yield ""
    yield from proposal.kept
    for each in proposal.writings:
        yield f"{each.name} ({'new' if each.is_new else 'at its end'}):"
        yield from (f"  | {spell_out(line)}".rstrip() for line in each.added.splitlines())
        yield ""


def agreed() -> bool:
    """Ask whether to write; raises `UsageError` where nobody can be asked."""
    if not sys.stdin.isatty():
        raise UsageError("nothing was written, since there is nobody to ask", "`--yes` writes it, `--dry-run` only shows it")
    return click.confirm("write this?", default=False)

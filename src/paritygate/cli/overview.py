"""The commands as `paritygate --help` lists them: by what somebody wants, those first that a newcomer meets first."""

from __future__ import annotations

import click

FIRST_STEPS = "`paritygate selfcheck` shows what it does, `paritygate init` sets a project up, `paritygate --help` lists all"

SECTIONS = {
    "Start here": {
        "selfcheck": "Show the gate at work on planted faults, without a project",
        "init": "Propose a configuration and a nox session for the project",
        "doctor": "Say what this machine offers, and what to do about the rest",
        "engine": "Find an engine and a base image, or make them",
        "completion": "Complete commands, options and files in bash, zsh or fish",
    },
    "Gate": {
        "run": "Run the tests in every environment, and give the verdict",
        "sweep": "Run the tests under many values of one axis",
        "changed": "Say which tests `run --changed` would choose",
        "images": "Make images beforehand, list them, remove them",
    },
    "After a run": {
        "report": "Tell a report as a page, a comment, annotations, JUnit or JSON",
        "repro": "Run one test once more in the same cell",
        "explain": "Look for causes that the run had no time for",
        "verify": "Hold a report against its own cells and this checkout",
    },
    "Cells from elsewhere": {
        "cell": "Run one cell, for a job of its own",
        "command": "Print the pytest command of a cell, to be pasted elsewhere",
        "ingest": "Make a cell of what pytest said elsewhere",
        "classify": "Give the verdict on cells that were made anywhere",
        "schema": "Print the JSON Schema of the report",
    },
    "Keeping a suite sound": {
        "hazards": "List what makes tests depend on the machine",
        "lock": "Lock the files that tests read",
        "freeze": "Let a nondeterministic test through until a day",
    },
}
"""Every command with what it does in a few words; one that is missing here is listed last, by its own help."""


class Overview(click.Group):
    """The program's group, which lists its commands in sections."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections, and what is in none of them."""
        told = {name for section in SECTIONS.values() for name in section}
        rest = {name: self.commands[name].get_short_help_str() for name in self.list_commands(ctx) if name not in told}
        for title, section in (*SECTIONS.items(), ("More", rest)):
            rows = [(name, said) for name, said in section.items() if name in self.commands]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

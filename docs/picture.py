"""Write `picture.svg` beside this file anew: what `paritygate run` printed of the project in `example`.

It is drawn from the report of that run. With `--run` the run itself is made anew first, which takes an engine and some minutes.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from paritygate import archive
from paritygate.reports import terminal

HERE = Path(__file__).parent
EXAMPLE = HERE / "example"
REPORT = EXAMPLE / "report.json"
PICTURE = HERE / "picture.svg"
WIDTH = 124
"""Columns: the widest at which a page still shows letters that can be read."""

THEME = TerminalTheme(
    (24, 26, 31),
    (214, 217, 224),
    [
        (60, 64, 72),
        (235, 110, 110),
        (120, 200, 120),
        (229, 192, 90),
        (110, 160, 240),
        (200, 130, 230),
        (90, 190, 200),
        (214, 217, 224),
    ],
)
FORMAT = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>paritygate run</title>
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: {char_height}px;
  line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font-size: 18px; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""As rich has it, without fonts that would be fetched over a network."""


def shown() -> Text:
    """Give what the run prints on a terminal, after the line that was typed."""
    text = terminal.render(archive.read(REPORT), WIDTH, colour=True, report="parity_report.json")
    return Text.from_ansi(f"$ paritygate run\n{text}")


def render() -> str:
    """Draw it; whatever is wider than the picture goes on in the next line, as on a terminal."""
    console = Console(
        record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="standard", legacy_windows=False
    )
    console.print(shown(), soft_wrap=False, overflow="fold", no_wrap=False)
    picture = console.export_svg(title="paritygate run", theme=THEME, code_format=FORMAT, unique_id="paritygate")
    return "".join(f"{line.rstrip()}\n" for line in picture.splitlines())


def run() -> None:
    """Run the gate in a copy of the project, in a repository of its own, and keep the report."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "invoices")
        shutil.copytree(EXAMPLE, project, ignore=shutil.ignore_patterns(REPORT.name, "__pycache__"))
        for words in (
            ["init", "--quiet"],
            ["add", "--all"],
            ["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "All"],
        ):
            subprocess.run(["git", "-C", str(project), *words], check=True)
        subprocess.run([sys.executable, "-m", "paritygate", "run", "--project", str(project)], check=False)
        shutil.copyfile(project / "parity_report.json", REPORT)


if __name__ == "__main__":
    if "--run" in sys.argv[1:]:
        run()
    PICTURE.write_text(render(), encoding="utf-8")

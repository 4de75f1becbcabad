"""Every format over one artifact, word for word.

The files in `expected/` are what is said to be right. Where a change to them is meant, this writes them anew, for their diff to
be read: `PARITYGATE_WRITE_EXPECTED=1 pytest tests/reports/test_snapshots.py`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from paritygate.outcomes.artifact import Artifact
from paritygate.reports.findings import Page
from paritygate.reports.formats import Format, render

EXPECTED = Path(__file__).parent / "expected"
FILES = {
    Format.TERMINAL: "terminal.txt",
    Format.HTML: "page.html",
    Format.MARKDOWN: "comment.md",
    Format.GITHUB: "workflow.log",
    Format.JUNIT: "junit.xml",
    Format.JSON: "brief.json",
}
ASSETS = re.compile(r"(<style>|<script>).*?(</style>|</script>)", re.DOTALL)


def told(artifact: Artifact, form: Format) -> str:
    """Tell an artifact; of the page leave out style, script and their digests, which are files of their own."""
    text = render(artifact, form, Page(120, "parity_report.json"))
    if form is not Format.HTML:
        return text
    return re.sub(r"sha256-[\w+/=]+", "sha256-...", ASSETS.sub(r"\1\2", text))


def test_every_format_has_a_file() -> None:
    assert set(FILES) == set(Format)
    assert sorted(FILES.values()) == sorted(path.name for path in EXPECTED.iterdir())


@pytest.mark.parametrize("form", Format)
def test_a_report_is_word_for_word_what_it_was(rich: Artifact, form: Format) -> None:
    path, text = EXPECTED / FILES[form], told(rich, form)
    if "PARITYGATE_WRITE_EXPECTED" in os.environ:
        path.write_text(text, encoding="utf-8", newline="\n")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("form", Format)
def test_the_same_artifact_is_told_in_the_same_words_every_time(rich: Artifact, form: Format) -> None:
    assert told(rich, form) == told(rich, form)

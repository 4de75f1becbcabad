"""The formats in which a run is told, by name."""

from __future__ import annotations

from enum import StrEnum

from paritygate.outcomes.artifact import Artifact
from paritygate.reports import brief, github, junit, markdown, terminal
from paritygate.reports.findings import Page
from paritygate.reports.html import page as html_page


class Format(StrEnum):
    """How a run is told."""

    TERMINAL = "terminal"
    HTML = "html"
    MARKDOWN = "markdown"
    GITHUB = "github"
    JUNIT = "junit"
    JSON = "json"


def render(artifact: Artifact, form: Format, page: Page, *, colour: bool = False) -> str:
    """Write a run in a format. `page.report` is the artifact's path as commands are to have it; `page.width` is a terminal's."""
    match form:
        case Format.TERMINAL:
            return terminal.render(artifact, page.width, colour=colour, report=page.report, fold=page.fold)
        case Format.HTML:
            return html_page.render(artifact, page.report)
        case Format.MARKDOWN:
            return markdown.render(artifact, page.report)
        case Format.GITHUB:
            return github.render(artifact, page.report)
        case Format.JUNIT:
            return junit.render(artifact, page.report)
        case Format.JSON:
            return brief.render(artifact, page.report)

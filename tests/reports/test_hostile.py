"""What tests print is text in every format, and never more: no markup, no command, no link, no mention, no broken file."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from paritygate.outcomes.artifact import Artifact
from paritygate.reports import brief, github, junit, markdown, terminal
from paritygate.reports.html import page
from paritygate.reports.workflow import MOST_ANNOTATIONS, neutralised
from tests.support.hostile import TEXTS, hostile

FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ANYTHING = st.one_of(
    st.sampled_from(TEXTS), st.text(st.characters(), max_size=60), st.text("`<>&@#:[]()*_|~\n\\\"'/-= ax", max_size=40)
)
SCRIPTS = 2
SAID = {"system-out", "system-err"}
ANNOTATION = re.compile(r"::(error|warning|notice)( [a-z]+=[^:,]*(,[a-z]+=[^:,]*)*)?::[^\r\n]*")
TAGS = re.compile(r"</?[a-zA-Z][^>]*>")


class Page(HTMLParser):
    """Collects what a browser would build of a page: elements with their attributes, and what stands in the data's element."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.data = ""
        self._in_data = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._in_data = tag == "script" and dict(attrs).get("id") == "data"

    def handle_endtag(self, tag: str) -> None:
        self._in_data = self._in_data and tag != "script"

    def handle_data(self, data: str) -> None:
        self.data += data if self._in_data else ""


def elements_of(artifact: Artifact) -> dict[str, int]:
    counted: dict[str, int] = {}
    for tag, _ in Page(page.render(artifact, "r.json")).elements:
        counted[tag] = counted.get(tag, 0) + 1
    return counted


@FEW
@given(text=ANYTHING)
def test_a_page_has_no_element_or_attribute_that_a_test_has_brought(rich: Artifact, text: str) -> None:
    shown = page.render(hostile(rich, text), "r.json")
    shown.encode("utf-8")
    built = Page(shown)
    known = elements_of(rich)
    assert {tag for tag, _ in built.elements} <= known.keys()
    assert sum(tag == "script" for tag, _ in built.elements) == SCRIPTS
    assert not [
        name for _, attributes in built.elements for name in attributes if name.startswith("on") or name in {"src", "style"}
    ]
    links = [attributes.get("href") or "" for tag, attributes in built.elements if tag == "a"]
    assert all(link.startswith("#") for link in links)
    assert not set("\x00\x07\x1b\u2028\u2029\u202e") & set(shown)
    assert len(json.loads(built.data)["rows"]) == len(rich.tests) + len(rich.excluded)


def tokens_of(text: str) -> list[Token]:
    flat: list[Token] = []
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
        flat += [token, *(token.children or [])]
    return flat


@FEW
@given(text=ANYTHING)
def test_a_comment_holds_what_tests_say_as_code_and_nothing_else_of_it(rich: Artifact, text: str) -> None:
    shown = markdown.render(hostile(rich, text), "r.json")
    assert len(shown.encode("utf-8")) <= markdown.MOST_BYTES
    tokens = tokens_of(shown)
    kinds = {token.type for token in tokens}
    assert not kinds & {
        "link_open",
        "image",
        "html_inline",
        "em_open",
        "strong_open",
        "s_open",
        "hr",
        "ordered_list_open",
    } - rest_of(shown)
    raw = [tag for token in tokens if token.type == "html_block" for tag in TAGS.findall(token.content)]
    assert set(raw) <= {"<details>", "<summary>", "<code>", "</code>", "</summary>", "</details>"}
    assert raw.count("<details>") == raw.count("</details>")
    words = [token.content for token in tokens if token.type == "text"]
    assert not [word for word in words if re.search(r"@\w|#\d|://|www\.", word)]
    headings = [tokens[place + 1].content for place, token in enumerate(tokens) if token.type == "heading_open"]
    assert all(re.fullmatch(r"\W* ?[a-z-]+ \(exit \d\)|[a-z-]+: [a-z ,]+", heading) for heading in headings)


def rest_of(shown: str) -> set[str]:
    """Say which markup is the report's own: the number of tests that did not fit stands out."""
    return {"strong_open"} if "did not fit" in shown else set()


@FEW
@given(text=ANYTHING)
def test_a_workflow_obeys_nothing_that_a_test_has_printed(rich: Artifact, text: str) -> None:
    shown = github.render(hostile(rich, text), "r.json")
    commands = [line for line in shown.split("\n") if line.lstrip().startswith("::")]
    assert all(ANNOTATION.fullmatch(line) for line in commands)
    assert "##[" not in shown
    assert "##vso[" not in shown
    assert "\r" not in shown
    levels = [line.lstrip(":").split(" ")[0].split("::")[0] for line in commands]
    assert all(levels.count(level) <= MOST_ANNOTATIONS for level in levels)
    assert len(commands) == len([line for line in github.render(rich, "r.json").split("\n") if line.startswith("::")])


@FEW
@given(line=st.text("::#[error] vso\tabc\u00a0", max_size=30))
def test_no_line_of_text_is_a_command(line: str) -> None:
    shown = neutralised(line)
    assert not shown.lstrip().startswith("::")
    assert "##[" not in shown


@FEW
@given(text=ANYTHING)
def test_xml_stays_xml_and_says_as_much_as_before(rich: Artifact, text: str) -> None:
    shown = junit.render(hostile(rich, text), "r.json")
    root = ET.fromstring(shown.encode("utf-8"))  # noqa: S314  # the report's own
    before = ET.fromstring(junit.render(rich, "r.json").encode("utf-8"))  # noqa: S314  # the report's own
    assert [element.tag for element in root.iter() if element.tag not in SAID] == [
        element.tag for element in before.iter() if element.tag not in SAID
    ]


@FEW
@given(text=ANYTHING)
def test_the_brief_stays_short_and_is_json(rich: Artifact, text: str) -> None:
    shown = brief.render(hostile(rich, text), "r.json")
    read: dict[str, Any] = json.loads(shown.encode("utf-8"))
    assert read["exit_code"] == rich.verdict.exit_code
    assert max(len(line) for line in shown.splitlines()) < 20_000


@pytest.mark.parametrize("text", TEXTS)
def test_a_terminal_gets_no_control_character(rich: Artifact, text: str) -> None:
    shown = terminal.render(hostile(rich, text), 120, report="r.json")
    assert not [character for character in shown if not character.isprintable() and character != "\n"]

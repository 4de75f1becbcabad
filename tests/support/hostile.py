"""An artifact in which every text that comes from a project is one that would like to be more than text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from paritygate.outcomes.artifact import Artifact

MARKER = "zqmarker"
TEXTS = (
    f"<script>window.{MARKER} = 1</script>",
    f"</script><script>window.{MARKER} = 1</script><!--",
    f'"><img src=x onerror="window.{MARKER} = 1">',
    f"' onmouseover='window.{MARKER} = 1",
    "\x1b[31mred\x1b[0m\x1b]0;title\x07\x1b[2J",
    "::error file=a.py,line=1::owned\n  ::set-output name=x::y\n##[error]owned\r::stop-commands::z\n::add-mask::a",
    "```\n@everyone [click](http://evil.example) ![x](http://evil.example/x.png)\n\n# heading\n\n</details>\n~~~",
    "@octocat #1 octo/repo#2 https://evil.example www.evil.example a@evil.example | **bold** _it_ `tick",
    "\u2028\u2029\u202e\x00\x07\x85\ufeff\ufffe",
    "\ud800\udfff lone",
    "]]> &amp; &#0; <![CDATA[ <!DOCTYPE a>",
    "{{ 7 * 7 }} {% for x in y %} {# #}",
    "",
    " ",
    "`" * 40,
    "\n\n- a\n1. b\n===\n---\n| a | b |",
    "x" * 300,
    "é\N{GRINNING FACE}" * 4_000,
)

TEXT_FIELDS = frozenset(
    {"message", "text", "source", "output", "reason", "detail", "note", "stderr_tail", "what", "why", "instead"}
) | {"other", "rule"}
ID_FIELDS = frozenset({"nodeid"})
NAME_LISTS = frozenset(
    {"reasons", "notes", "polluters", "setters", "overlapping", "withheld", "neutralised", "selection", "files"}
)
ID_MAPS = frozenset({"excluded", "freezes", "file_facts"})


def hostile(artifact: Artifact, text: str) -> Artifact:
    """Put a text behind every text of an artifact; ids get it cut, as pytest does, so that the same test stays the same."""
    plain = msgspec.to_builtins(artifact)
    spoilt = _walked(plain, lambda value: value + text, lambda nodeid: nodeid + text[:300])
    spoilt["verdict"]["line"] += text
    return msgspec.convert(spoilt, Artifact)


Change = Callable[[str], str]


def _walked(value: Any, on_text: Change, on_id: Change) -> Any:
    if isinstance(value, dict):
        return {key: _field(key, each, on_text, on_id) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_walked(each, on_text, on_id) for each in value]
    return value


def _field(key: str, value: Any, on_text: Change, on_id: Change) -> Any:
    if isinstance(value, str):
        change = on_id if key in ID_FIELDS else on_text if key in TEXT_FIELDS else str
        return change(value)
    if key in NAME_LISTS and isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        return [on_text(each) for each in value]
    if key in ID_MAPS and isinstance(value, dict):
        value = {on_id(name): each if not isinstance(each, str) else on_text(each) for name, each in value.items()}
        return {name: _walked(each, on_text, on_id) for name, each in value.items()}
    return _walked(value, on_text, on_id)

"""Checks of the locale: formats and orders that are its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from paritygate.hazards.found import Found, shown
from paritygate.hazards.source import Role, Source
from paritygate.outcomes.hazards import HazardKind

_OWN_FORMATS = re.compile(r"(?<!%)(?:%%)*%([xXc])")
_FORMATTERS = frozenset({"locale.format_string", "locale.currency", "locale.str", "locale.atof"})
_COLLATING = frozenset({"locale.strxfrm", "locale.strcoll"})


def formats(source: Source) -> Iterator[Found]:
    """Find what is formatted as the locale has it; a package that asks for that may well mean it, for people to read."""
    meant = source.role is Role.PACKAGE
    for call, meaning in source.calls():
        if meaning in _FORMATTERS:
            yield Found(HazardKind.LOCALE_FORMAT, call, f"{shown(call)} formats as the locale has it", not meant)
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "strftime" and (letters := _own(call, source)):
            yield Found(HazardKind.LOCALE_FORMAT, call, f"`%{'`, `%'.join(letters)}` are the locale's own formats", not meant)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None and _spec(node.format_spec).endswith("n"):
            yield Found(HazardKind.LOCALE_FORMAT, node, f"{shown(node.value)} is formatted with `n`, as the locale has it")


def _own(call: ast.Call, source: Source) -> list[str]:
    given = [value for each in call.args if isinstance(value := source.value(each), str)]
    return list(dict.fromkeys(letter for text in given for letter in _OWN_FORMATS.findall(text)))


def _spec(node: ast.expr) -> str:
    """Say a format specification; empty where it is not written out."""
    parts = node.values if isinstance(node, ast.JoinedStr) else []
    text = "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))
    return text if re.fullmatch(r".?[<>=^]?[+ -]?#?0?\d*[_,]?(\.\d+)?n", text) else ""


def orders(source: Source) -> Iterator[Found]:
    """Find words that are sorted or compared as the locale has it, which a package may mean."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Load) and source.meaning(node) in _COLLATING:
            yield Found(
                HazardKind.LOCALE_ORDER, node, f"{shown(node)} orders as the locale has it", source.role is not Role.PACKAGE
            )

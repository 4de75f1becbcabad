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
_EQUALITIES = frozenset({"assertEqual", "assertEquals", "assertListEqual", "assertSequenceEqual"})
_COLLATING = frozenset({"locale.strxfrm", "locale.strcoll"})


def formats(source: Source) -> Iterator[Found]:
    """Find what is formatted as the locale has it; a package that asks for that may well mean it, for people to read.

    A test may make what it expects in the same way as what it tests, so only what meets something written out is sure.
    """
    package = source.role is Role.PACKAGE
    for call, meaning in source.calls():
        if meaning in _FORMATTERS:
            said = f"{shown(call)} formats as the locale has it"
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "strftime" and (letters := _own(call, source)):
            said = f"`%{'`, `%'.join(letters)}` are the locale's own formats"
        else:
            continue
        yield Found(HazardKind.LOCALE_FORMAT, call, said, not package and _meets_written_out(call, source))
    for node in source.nodes:
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None and _spec(node.format_spec).endswith("n"):
            text = source.parents.get(node)
            sure = package or (text is not None and _meets_written_out(text, source))
            yield Found(HazardKind.LOCALE_FORMAT, node, f"{shown(node.value)} is formatted with `n`, as the locale has it", sure)


def _meets_written_out(node: ast.AST, source: Source) -> bool:
    """Say whether what is made of a node, where it stands or by a name, is compared with something that is written out.

    Not where the test sets the locale itself, which then is what it is about.
    """
    function = source.function_of(node)
    if function is None or "setlocale" in ast.unparse(function):
        return False
    named = next((each for each in source.above(node) if isinstance(each, ast.stmt)), None)
    uses: list[ast.AST] = [node]
    if isinstance(named, ast.Assign) and isinstance(named.targets[0], ast.Name):
        name = named.targets[0].id
        uses += [each for each in ast.walk(function) if isinstance(each, ast.Name) and each.id == name]
    return any(_compared(each, source) for each in uses)


def _compared(node: ast.AST, source: Source) -> bool:
    inner = node
    for outer in source.above(node):
        if isinstance(outer, ast.stmt):
            return False
        others = [outer.left, *outer.comparators] if isinstance(outer, ast.Compare) else []
        if isinstance(outer, ast.Call) and isinstance(outer.func, ast.Attribute) and outer.func.attr in _EQUALITIES:
            others = outer.args[:2]
        if others:
            return all(_written_out(each) for each in others if each is not inner)
        inner = outer
    return False


def _written_out(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, ast.List | ast.Tuple) and all(map(_written_out, node.elts)))


def _own(call: ast.Call, source: Source) -> list[str]:
    given = [value for each in call.args if isinstance(value := source.value(each), str)]
    return list(dict.fromkeys(letter for text in given for letter in _OWN_FORMATS.findall(text)))


def _spec(node: ast.expr) -> str:
    """Say a format specification; empty where it is not written out."""
    parts = node.values if isinstance(node, ast.JoinedStr) else []
    text = "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))
    return text if re.fullmatch(r".?[<>=^]?[+ -]?#?0?\d*[_,]?(\.\d+)?n", text) else ""


def orders(source: Source) -> Iterator[Found]:
    """Find words that are sorted or compared as the locale has it, which a package may mean, and a test expect in that order."""
    for node in source.nodes:
        if isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Load) and source.meaning(node) in _COLLATING:
            sure = source.role is not Role.PACKAGE and _meets_written_out(node, source)
            yield Found(HazardKind.LOCALE_ORDER, node, f"{shown(node)} orders as the locale has it", sure)

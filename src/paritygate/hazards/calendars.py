"""Where the calendar itself decides what a package does: the local date or hour, rather than a span of time.

A program that compares `now()` with moments of its own, all of them naive, is at most an hour wrong when clocks change, and only
who knows it can say whether that matters. A date, a year or an hour is another one in another zone.
"""

from __future__ import annotations

import ast
import re

from paritygate.hazards import moments
from paritygate.hazards.source import Source

_SPAN = re.compile(r"delta\(")
_ELSEWHERE = re.compile(r"(\b|_)(utc\w*|tz\w*|timezone|strptime|fromisoformat|isoparse|parsedate\w*|parse)\b", re.IGNORECASE)
"""What makes a moment of a text that another program may have written, or names the zone of one.

A stamp is none: it has no zone, and goes to local time and back by the same one.
"""
_THERE_AND_BACK = {"fromisoformat(": ".isoformat(", "strptime(": ".strftime("}


def decides(call: ast.expr, source: Source) -> bool:
    """Say whether a reading decides by its date or hour, or is compared with a moment that comes from elsewhere."""
    if source.function_of(call) is None:  # a constant of the start, as a rule a bound that is far away
        return False
    days = isinstance(call, ast.Call) and source.meaning(call.func) in {"datetime.date.today", "time.strftime"}
    return any(_by_date(each, source, days=days) or _meets_other(each, source) for each in _uses(call, source))


def _uses(call: ast.expr, source: Source) -> list[ast.expr]:
    """List where a reading is used, shifted or not: where it stands, or wherever the name that it is given stands."""
    whole = _shifted(call, source)
    named = source.parents.get(whole)
    function = source.function_of(call)
    if function is None or not (isinstance(named, ast.Assign) and isinstance(named.targets[0], ast.Name)):
        return [call]
    return list(moments.loads(named.targets[0].id, function))


def _shifted(node: ast.expr, source: Source) -> ast.expr:
    """Go outwards from a moment to the sum of it and a span."""
    outer = source.parents.get(node)
    return outer if isinstance(outer, ast.BinOp) and _is_shift(outer, node) else node


def _is_shift(sum_: ast.BinOp, node: ast.expr) -> bool:
    return _SPAN.search(ast.unparse(sum_.right if sum_.left is node else sum_.left)) is not None


def _by_date(node: ast.expr, source: Source, *, days: bool) -> bool:
    """Say whether a part of a moment, or a whole date, decides; not where it only measures an age or ends a span."""
    part, outer = _part(node if days else _shifted(node, source), source)
    if part is None and not days:
        return False
    dated = part in {None, "date"}
    if not isinstance(outer, ast.BinOp):
        return True
    inner = _inner(outer, node)
    if _is_shift(outer, inner):
        return not isinstance(source.parents.get(outer), ast.Compare)
    return not isinstance(outer.op, ast.Sub) or (
        _days_only(outer, source) if dated else isinstance(_other(outer, inner), ast.Constant)
    )


def _part(node: ast.expr, source: Source) -> tuple[str | None, ast.AST | None]:
    """Say which part of a moment is taken, if any, and what that stands in."""
    outer = source.parents.get(node)
    if not (isinstance(outer, ast.Attribute) and outer.attr in moments.TELLING):
        return None, outer
    above = source.parents.get(outer)
    called = isinstance(above, ast.Call) and above.func is outer
    place = source.parents.get(above) if called and above is not None else above
    if outer.attr in moments.PARTS or moments.compared_as_text(outer, source):
        return outer.attr, place
    return None, place


def _inner(sum_: ast.BinOp, node: ast.AST) -> ast.expr:
    return sum_.left if any(each is node for each in ast.walk(sum_.left)) else sum_.right


def _other(sum_: ast.BinOp, inner: ast.expr) -> ast.expr:
    return sum_.right if sum_.left is inner else sum_.left


def _days_only(difference: ast.BinOp, source: Source) -> bool:
    """Say whether a number of days is told to the day, rather than made one of years."""
    outer = source.parents.get(difference)
    return not (isinstance(outer, ast.Attribute) and isinstance(source.parents.get(outer), ast.BinOp))


def _meets_other(node: ast.expr, source: Source) -> bool:
    """Say whether a moment is compared with one that was read from a text, or that names its zone."""
    whole = _shifted(node, source)
    outer = source.parents.get(whole)
    function = source.function_of(node)
    if not isinstance(outer, ast.Compare) or function is None:
        return False
    others = [each for each in (outer.left, *outer.comparators) if each is not whole]
    names = {each.id for other in others for each in ast.walk(other) if isinstance(each, ast.Name)}
    assigns = [each for each in ast.walk(function) if isinstance(each, ast.Assign)]
    others += [each.value for each in assigns if any(ast.unparse(target) in names for target in each.targets)]
    return any(_ELSEWHERE.search(_but_own(ast.unparse(each), source)) for each in others)


def _but_own(text: str, source: Source) -> str:
    """Leave out of an expression how a moment is read that the module itself writes in that way: it comes back as it was."""
    for reading, writing in _THERE_AND_BACK.items():
        if writing in source.text:
            text = text.replace(reading, "own")
    return text

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
_READING = re.compile(r"\b(now|today|fromtimestamp|localtime)\(")
_DAILY = frozenset({"hour", "minute", "weekday", "isoweekday", "tm_hour", "tm_wday", "strftime"})
"""What tells of a moment something that is another in another zone on every day."""
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
    """Say whether the hour or the weekday decides, or a whole day is held against one that is no reading of the same clock.

    A year is another one for some hours in it, and what is made of a day (the start of a span, a default) is as a rule meant.
    """
    part, outer = _part(node if days else _shifted(node, source), source)
    if part in _DAILY:
        return True
    if part != "date" and not (days and part is None):
        return False
    if isinstance(outer, ast.Compare):
        return not any(_of_this_clock(each, node, source) for each in (outer.left, *outer.comparators))
    if not (isinstance(outer, ast.BinOp) and isinstance(outer.op, ast.Sub)):
        return False
    other = _other(outer, _inner(outer, node))
    made = [ast.unparse(each) for each in _made_of(other, node, source)]
    shifted = any(_SPAN.search(each) for each in made) or isinstance(other, ast.Constant)
    return not shifted and not _of_this_clock(other, node, source) and _days_only(outer, source)


def _of_this_clock(other: ast.expr, node: ast.expr, source: Source) -> bool:
    """Say whether what a moment is held against is read from the same clock or stamps: both have the same zone."""
    if any(each is node for each in ast.walk(other)):
        return False
    return any(_READING.search(ast.unparse(each)) for each in _made_of(other, node, source))


def _made_of(other: ast.expr, node: ast.expr, source: Source) -> list[ast.expr]:
    """List an expression and what its names are given in the function."""
    function = source.function_of(node)
    names = {each.id for each in ast.walk(other) if isinstance(each, ast.Name)}
    assigns = [each for each in ast.walk(function) if isinstance(each, ast.Assign)] if function is not None else []
    return [other, *(each.value for each in assigns if any(ast.unparse(target) in names for target in each.targets))]


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
    made = [each for other in others for each in _made_of(other, node, source)]
    return any(_ELSEWHERE.search(_but_own(ast.unparse(each), source)) for each in made)


def _but_own(text: str, source: Source) -> str:
    """Leave out of an expression how a moment is read that the module itself writes in that way: it comes back as it was."""
    for reading, writing in _THERE_AND_BACK.items():
        if writing in source.text:
            text = text.replace(reading, "own")
    return text

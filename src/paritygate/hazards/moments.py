"""Where a reading of the clock in a test makes a difference.

A test may take the present moment for any moment: it hands it in and gets it back, and no clock can spoil that. It matters where
the test expects the moment without handing it in, or hands it in and expects something that is written out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from enum import Enum

from paritygate.hazards.source import Function, Source

PARTS = frozenset(
    {
        *("year", "month", "day", "hour", "minute", "tm_year", "tm_mon", "tm_mday", "tm_hour", "tm_wday", "tm_yday"),
        *("date", "weekday", "isoweekday", "isocalendar", "toordinal"),
    }
)
TELLING = PARTS | {"strftime", "isoformat", "ctime"}


class Meaning(Enum):
    """What a reading of the clock means to a test."""

    EXPECTED = "expected of something that was not given it"
    SPELLED_OUT = "given, where something written out is expected"
    ANY = "any moment would do, as far as can be seen"


def meaning_of(call: ast.expr, source: Source) -> Meaning:
    """Say what a reading means to the test that it is in."""
    function = source.function_of(call)
    if function is None or not function.name.startswith("test"):
        return Meaning.ANY
    if _zone_of(_extended(call, source)) or _lapses(call, call, function, source):
        return Meaning.ANY
    uses = [each for each in _uses(call, function, source) if not _lapses(each, call, function, source)]
    if any(_against_constant(each, function, source) for each in uses):
        return Meaning.SPELLED_OUT
    expected = any(_expected(each, source) for each in uses)
    return Meaning.EXPECTED if expected and not any(_handed_in(each, source) for each in uses) else Meaning.ANY


def spelled_out(call: ast.expr, source: Source) -> bool:
    """Say whether the moment itself, or a part of it, is asserted to equal a constant, rather than what a call makes of it."""
    function = source.function_of(call)
    return function is not None and any(
        _equals_constant(_extended(each, source), source) for each in _uses(call, function, source)
    )


def held_against(node: ast.expr, source: Source) -> bool:
    """Say whether a moment, or what is made of it, is one side of what is asserted, rather than given to a call."""
    outer = source.parents.get(_extended(node, source))
    if isinstance(outer, ast.Compare):
        return isinstance(source.parents.get(outer), ast.Assert | ast.BoolOp | ast.Call)
    return isinstance(outer, ast.Call) and ast.unparse(outer.func).rpartition(".")[2].startswith("assert")


def begins_span(call: ast.expr, source: Source) -> bool:
    """Say whether a reading is taken away from another moment, and the span asserted to be nearly so long: it lasted."""
    function = source.function_of(call)
    for each in _uses(call, function, source) if function is not None else []:
        span = source.parents.get(each)
        compared = source.parents.get(span) if isinstance(span, ast.BinOp) and isinstance(span.op, ast.Sub) else None
        if isinstance(compared, ast.Compare) and any("approx(" in ast.unparse(one) for one in compared.comparators):
            return True
    return False


def given_away(call: ast.expr, source: Source) -> bool:
    """Say whether the statement that names a moment also gives it to what is tested: `now = job.next = time.time()`."""
    named = source.parents.get(_extended(call, source))
    return isinstance(named, ast.Assign) and any(isinstance(each, ast.Attribute | ast.Subscript) for each in named.targets)


def only_shown(call: ast.expr, source: Source) -> bool:
    """Say whether all that becomes of a moment right where it stands is a text, such as the year of a copyright."""
    function = source.function_of(call)
    uses = _uses(call, function, source) if function is not None else [call]
    return bool(uses) and all(_made_text(_extended(each, source), source) for each in uses)


def _made_text(node: ast.expr, source: Source) -> bool:
    outer = source.parents.get(node)
    if isinstance(outer, ast.keyword):
        outer = source.parents.get(outer)
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
    if isinstance(outer, ast.Call):
        return source.meaning(outer.func) == "str" or (isinstance(outer.func, ast.Attribute) and outer.func.attr == "format")
    return isinstance(outer, ast.FormattedValue)


def _uses(value: ast.expr, function: Function, source: Source) -> list[ast.expr]:
    """List where a value is used: where it stands, or wherever the name that it is given stands."""
    whole = _extended(value, source)
    named = source.parents.get(whole)
    if not (isinstance(named, ast.Assign) and named.value is whole and isinstance(named.targets[0], ast.Name)):
        return [value]
    return list(loads(named.targets[0].id, function))


def _lapses(node: ast.expr, call: ast.expr, function: Function, source: Source) -> bool:
    """Say whether a moment only serves to tell how long something took: it is taken from another reading of the same clock."""
    outer = source.parents.get(node)
    if not (isinstance(outer, ast.BinOp) and isinstance(outer.op, ast.Sub) and isinstance(call, ast.Call)):
        return False
    other = outer.right if outer.left is node else outer.left
    clock = source.meaning(call.func)
    values = [other]
    if isinstance(other, ast.Name):
        assigns = [each for each in ast.walk(function) if isinstance(each, ast.Assign)]
        values = [each.value for each in assigns if ast.unparse(each.targets[0]) == other.id]
    return any(isinstance(each, ast.Call) and source.meaning(each.func) == clock for each in values)


def decides(call: ast.expr, source: Source) -> bool:
    """Say whether a moment decides what a package does: it is compared, taken apart or shifted, by its name or where it stands.

    What is only stored, shown or logged decides nothing.
    """
    named = source.parents.get(call)
    function = source.function_of(call)
    if function is None and any(_shows(each) for each in source.above(call)):
        return False
    days = isinstance(call, ast.Call) and source.meaning(call.func) == "datetime.date.today"
    if function is not None and isinstance(named, ast.Assign) and isinstance(named.targets[0], ast.Name):
        return any(decided_by(each, source, days=days) for each in loads(named.targets[0].id, function))
    return decided_by(call, source, days=days)


def decided_by(node: ast.expr, source: Source, *, days: bool = False) -> bool:
    """Say whether something is decided by a moment right where it stands; of whole `days` a difference decides too."""
    outer = source.parents.get(node)
    if isinstance(outer, ast.Attribute):
        return (outer.attr in PARTS or compared_as_text(outer, source)) and not _logged(outer, source)
    if isinstance(outer, ast.Compare):
        return any(isinstance(each, ast.Lt | ast.LtE | ast.Gt | ast.GtE | ast.Eq | ast.NotEq) for each in outer.ops)
    if isinstance(outer, ast.BinOp) and isinstance(outer.op, ast.Add | ast.Sub):
        return days or any("timedelta(" in ast.unparse(each) for each in (outer.left, outer.right) if each is not node)
    return False


def compared_as_text(part: ast.Attribute, source: Source) -> bool:
    """Say whether a moment is compared, or something looked up by it, in the words of `strftime`."""
    call = source.parents.get(part)
    outer = source.parents.get(call) if call is not None else None
    return part.attr == "strftime" and (
        isinstance(outer, ast.Compare) or (isinstance(outer, ast.Subscript) and outer.slice is call)
    )


def _shows(node: ast.AST) -> bool:
    """Say whether a node makes a text of what is in it."""
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format"
    )


def _logged(node: ast.AST, source: Source) -> bool:
    if "log" in source.path.rpartition("/")[2]:
        return True
    calls = (each for each in source.above(node) if isinstance(each, ast.Call))
    return any(re.search(r"\b(print|log\w*|logger\.\w+|debug|info|warning)$", ast.unparse(each.func)) for each in calls)


def loads(name: str, function: Function) -> Iterator[ast.Name]:
    """List where a name is read in a function."""
    for each in ast.walk(function):
        if isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Load):
            yield each


def _extended(node: ast.expr, source: Source) -> ast.expr:
    """Go outwards through what makes another moment of a moment: parts, methods, sums."""
    current = node
    while True:
        outer = source.parents.get(current)
        attribute = isinstance(outer, ast.Attribute) and outer.value is current
        method = isinstance(outer, ast.Call) and outer.func is current
        if isinstance(outer, ast.expr) and (attribute or method or isinstance(outer, ast.BinOp)):
            current = outer
        else:
            return current


def _expected(node: ast.expr, source: Source) -> bool:
    """Say whether a moment, or what is made of it, is one side of an asserted `==`."""
    whole = _extended(node, source)
    outer = source.parents.get(whole)
    if isinstance(outer, ast.Compare):
        asserted = isinstance(source.parents.get(outer), ast.Assert)
        return asserted and all(isinstance(each, ast.Eq) for each in outer.ops)
    return isinstance(outer, ast.Call) and whole in outer.args and ast.unparse(outer.func).endswith("assertEqual")


def _zone_of(node: ast.expr) -> bool:
    """Say whether only the zone of a moment is asked for."""
    text = ast.unparse(node)
    return text.endswith((".tzinfo", ".utcoffset()", ".tzname()", ".dst()", ".tm_gmtoff", ".tm_zone", ".tm_isdst"))


def _handed_in(node: ast.expr, source: Source) -> bool:
    """Say whether a moment is given to something that the test calls, by whatever way."""
    whole = _extended(node, source)
    if _expected(node, source):
        return False
    outer = source.parents.get(whole)
    return outer is not None and not isinstance(outer, ast.Compare)


def _against_constant(node: ast.expr, function: Function, source: Source) -> bool:
    """Say whether what is made of a moment is asserted to equal a constant: of the call that takes it, or of the name of that."""
    whole = _extended(node, source)
    outer = source.parents.get(whole)
    if isinstance(outer, ast.keyword):
        outer = source.parents.get(outer)
    if _equals_constant(whole, source):
        return True
    if not isinstance(outer, ast.Call) or ast.unparse(outer.func).endswith("assertEqual") or _relative(node, outer):
        return False
    if _equals_constant(outer, source):
        return True
    named = source.parents.get(outer)
    if not (isinstance(named, ast.Assign) and isinstance(named.targets[0], ast.Name)):
        return False
    return any(_equals_constant(each, source) for each in loads(named.targets[0].id, function))


def _relative(node: ast.expr, call: ast.Call) -> bool:
    """Say whether a call takes two moments that are both made of the same one, so that only their distance counts."""
    given = [*call.args, *(each.value for each in call.keywords)]
    names = [{each.id for each in ast.walk(one) if isinstance(each, ast.Name)} for one in given]
    return isinstance(node, ast.Name) and sum(node.id in each for each in names) > 1


def _equals_constant(node: ast.expr, source: Source) -> bool:
    outer = source.parents.get(node)
    if isinstance(outer, ast.Compare) and isinstance(source.parents.get(outer), ast.Assert):
        others = [each for each in (outer.left, *outer.comparators) if each is not node]
        return all(isinstance(each, ast.Eq) for each in outer.ops) and all(_telling(each) for each in others)
    if isinstance(outer, ast.Call) and ast.unparse(outer.func).endswith("assertEqual"):
        return all(_telling(each) for each in outer.args[:2] if each is not node)
    return False


def _telling(node: ast.expr) -> bool:
    """Say whether a constant tells something of a moment; a bool or None says the same of most."""
    return isinstance(node, ast.Constant) and type(node.value) in {str, int, float} and node.value != ""

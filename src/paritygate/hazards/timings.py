"""Assertions that something takes less than a certain time.

A limit of several seconds is there against hanging: it fails on a machine that stands still, and nowhere else. Only one that is
near to what the test waits anyway holds a machine to its speed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from paritygate.hazards import surroundings
from paritygate.hazards.clocks import SECONDS, assigned, reads_clock
from paritygate.hazards.found import Found, shown
from paritygate.hazards.source import Function, Role, Source
from paritygate.outcomes.hazards import HazardKind

GENEROUS_SECONDS = 30
SNUG_SECONDS = 2
"""What a limit leaves at most beyond what the test waits anyway, where it holds a machine to its speed."""
_WAITING = re.compile(r"sleep|wait|timeout|delay|timer|interval|expir|call_later", re.IGNORECASE)
_BELOW = (ast.Lt, ast.LtE)
_ABOVE = (ast.Gt, ast.GtE)


def timed(source: Source) -> Iterator[Found]:
    """Find assertions that something takes less than a certain time."""
    if source.role is Role.PACKAGE:
        return
    for node in source.nodes:
        if not isinstance(node, ast.Compare) or not surroundings.asserted(node, source) or surroundings.pinned(node, source):
            continue
        sides = [node.left, *node.comparators]
        for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
            sure = _held(left, operator, right, node, source)
            if sure is not None:
                yield Found(HazardKind.TIMED_ASSERTION, node, f"{shown(node)} holds on a machine that is quick enough", sure)
                break


def _held(left: ast.expr, operator: ast.cmpop, right: ast.expr, where: ast.Compare, source: Source) -> bool | None:
    """Say whether it is sure that a comparison holds something to a time; None where it does not."""
    if isinstance(operator, ast.Eq):
        nearly = isinstance(right, ast.Call) and source.meaning(right.func).rpartition(".")[2] == "approx"
        return True if nearly and _lasting(left, where, source) else None
    if isinstance(operator, _BELOW):
        below, above = left, right
    elif isinstance(operator, _ABOVE):
        below, above = right, left
    else:
        return None
    if _generous(above, source) or not _lasting(below, where, source):
        return None
    return _snug(above, where, source) and not _waits(where, source)


def _waits(node: ast.AST, source: Source) -> bool:
    """Say whether a limit is that of a loop that waits for something."""
    return any(isinstance(outer, ast.While) for outer in source.above(node))


def _generous(limit: ast.expr, source: Source) -> bool:
    """Say whether a limit is there against hanging, rather than to hold a machine to its speed."""
    value = source.value(limit)
    return isinstance(value, int | float) and value >= GENEROUS_SECONDS


def _snug(limit: ast.expr, where: ast.AST, source: Source) -> bool:
    """Say whether a limit is known and near to how long the test waits anyway, by what it writes out or asserts from below."""
    value = source.value(limit)
    function = source.function_of(where)
    if not isinstance(value, int | float) or function is None:
        return False
    given = (source.value(each) for each in (*_waited(function), *_at_least(function, source)))
    waits = [each for each in given if isinstance(each, int | float) and each < value]
    return value - max(waits, default=0) <= SNUG_SECONDS


def _waited(function: Function) -> Iterator[ast.expr]:
    """List what a function gives to what waits."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            waiting = _WAITING.search(ast.unparse(node.func).rpartition(".")[2]) is not None
            yield from node.args if waiting else ()
            yield from (each.value for each in node.keywords if waiting or _WAITING.search(each.arg or ""))


def _at_least(function: Function, source: Source) -> Iterator[ast.expr]:
    """List what is asserted to be the least time that something takes."""
    for node in ast.walk(function):
        if not isinstance(node, ast.Compare):
            continue
        sides = [node.left, *node.comparators]
        for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
            if isinstance(operator, _BELOW) and _lasting(right, node, source):
                yield left
            elif isinstance(operator, _ABOVE) and _lasting(left, node, source):
                yield right


def _lasting(node: ast.expr, where: ast.AST, source: Source) -> bool:
    """Say whether an expression is the time that something took: a reading less an earlier one, or a name for that."""
    if isinstance(node, ast.Name):
        function = source.function_of(where)
        values = assigned(node.id, function) if function is not None else []
        return bool(values) and all(_difference(value, source) for value in values)
    return _difference(node, source)


def _difference(node: ast.AST, source: Source) -> bool:
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)):
        return False
    if not isinstance(node.right, ast.Name):
        return False
    function = source.function_of(node)
    earlier = assigned(node.right.id, function) if function is not None else []
    later = [node.left] if not isinstance(node.left, ast.Name) else assigned(node.left.id, function) if function else []
    return bool(earlier) and bool(later) and all(reads_clock(each, source, SECONDS) for each in (*earlier, *later))

"""What makes a reading of the clock harmless: it is pinned, it is a default that callers may replace, or nothing hangs on it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from paritygate.hazards import defaults
from paritygate.hazards.source import Function, Role, Source

_PINNING_WORDS = ("freeze", "frozen", "freezer", "time_machine", "travel", "pinned_environment", "patch")
_STANDING_IN = re.compile(r"(mock|fake|stub)\w*(date|time|clock|now|today)|(date|time|clock|now|today)_?(mock|fake|stub)")
_FREEZING = re.compile(r"freeze|freezer|frozen|time_machine|travel(_to)?\(")
_STAND_INS = re.compile(r"fake|mock|dummy|stub|(?<!monkey)patch\b|_?spy\b", re.IGNORECASE)
"""How things are called that look like the real ones."""
_ALWAYS_SKIPPED = re.compile(r"(?<![-'\"\w])skip(\b|[iI]f\((True|1)\b)")
_ASSERTING_CALLS = ("assert", "raises", "fail", "check", "expect", "verify")


def harmless(node: ast.expr, source: Source) -> bool:
    """Say whether a reading of local time does no harm where it stands."""
    return pinned(node, source) or defaults.replaceable(node, source) or idle(node, source) or in_zone_class(node, source)


def pinned(node: ast.AST, source: Source) -> bool:
    """Say whether the clock is held or replaced around a node: by a decorator, a fixture or a context."""
    if any(_pins(ast.unparse(each)) for each in _conditions(node, source)):
        return True
    function = source.function_of(node)
    return function is not None and _FREEZING.search(ast.unparse(function)) is not None


def stands_in(node: ast.AST, source: Source) -> bool:
    """Say whether a node works with something that only looks like a socket or a filesystem, or is expected to be refused."""
    function = source.function_of(node)
    if function is None:
        return False
    given = {each.arg for each in function.args.args}
    refused = any(
        "raises" in ast.unparse(each).lower()
        for outer in source.above(node)
        if isinstance(outer, ast.With | ast.AsyncWith)
        for each in outer.items
    )
    classes = [each.name for each in source.above(node) if isinstance(each, ast.ClassDef)]
    texts = (*classes, ast.unparse(function))
    return refused or "fs" in given or any(_STAND_INS.search(each) for each in texts)


def _conditions(node: ast.AST, source: Source) -> Iterator[ast.AST]:
    for outer in source.above(node):
        if isinstance(outer, Function):
            yield from outer.decorator_list
            yield from outer.args.args
        elif isinstance(outer, ast.ClassDef):
            yield from outer.decorator_list
        elif isinstance(outer, ast.With | ast.AsyncWith):
            yield from (item.context_expr for item in outer.items)
    for statement in source.tree.body:
        if isinstance(statement, ast.Assign) and any(ast.unparse(target) == "pytestmark" for target in statement.targets):
            yield statement.value


def _pins(text: str) -> bool:
    lowered = text.lower()
    return any(word in lowered for word in _PINNING_WORDS) or _STANDING_IN.search(lowered) is not None


def idle(node: ast.AST, source: Source) -> bool:
    """Say whether a node is in a test that asserts nothing, such as a benchmark."""
    function = source.function_of(node)
    if function is None or source.role is Role.PACKAGE or not function.name.startswith("test"):
        return False
    return not any(_asserts(each) for each in ast.walk(function))


def _asserts(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return True
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name.lower().lstrip("_").startswith(_ASSERTING_CALLS)


def never_tested(node: ast.AST, source: Source) -> bool:
    """Say whether no test gets to a node: it is for the file as a program, or in a test that is always skipped."""
    if in_program(node, source) or source.role is Role.PACKAGE:
        return in_program(node, source)
    marks = (mark for outer in source.above(node) if isinstance(outer, Function | ast.ClassDef) for mark in outer.decorator_list)
    return any(_ALWAYS_SKIPPED.search(ast.unparse(mark)) for mark in marks)


def in_program(node: ast.AST, source: Source) -> bool:
    """Say whether a node runs only where the file itself is started as a program."""
    return any(isinstance(outer, ast.If) and "__name__" in ast.unparse(outer.test) for outer in source.above(node))


def in_zone_class(node: ast.AST, source: Source) -> bool:
    """Say whether a node is in a class that is itself a time zone: local time is its business."""
    return any(
        isinstance(outer, ast.ClassDef) and any("tzinfo" in ast.unparse(base).lower() for base in outer.bases)
        for outer in source.above(node)
    )


def asserted(node: ast.AST, source: Source) -> ast.AST | None:
    """Find the assertion that a node is a part of, as a statement or a call of unittest's; not where it is a mere message."""
    inner = node
    for outer in source.above(node):
        if isinstance(outer, ast.Assert):
            return outer if inner is outer.test else None
        if isinstance(outer, ast.Call) and isinstance(outer.func, ast.Attribute) and outer.func.attr.startswith("assert"):
            return outer
        if isinstance(outer, ast.stmt | ast.Lambda):
            return None
        inner = outer
    return None

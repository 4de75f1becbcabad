"""What makes a reading of the clock harmless: it is pinned, it is a default that callers may replace, or nothing hangs on it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from paritygate.hazards.source import Function, Role, Source

_PINNING_WORDS = ("freeze", "frozen", "freezer", "time_machine", "travel", "pinned_environment", "patch")
_STANDING_IN = re.compile(r"(mock|fake|stub)\w*(date|time|clock|now|today)|(date|time|clock|now|today)_?(mock|fake|stub)")
_FREEZING = re.compile(r"freeze|freezer|frozen|time_machine|travel(_to)?\(")
_SEAMS = re.compile(r"_*(\w+_)?(now|today)")
"""How functions are called whose one business is to say what time it is."""
_PRELUDE = (ast.Expr, ast.Import, ast.ImportFrom)
_ASSERTING_CALLS = ("assert", "raises", "fail", "check", "expect", "verify")


def harmless(node: ast.expr, source: Source) -> bool:
    """Say whether a reading of local time does no harm where it stands."""
    return pinned(node, source) or replaceable(node, source) or idle(node, source) or in_zone_class(node, source)


def pinned(node: ast.AST, source: Source) -> bool:
    """Say whether the clock is held or replaced around a node: by a decorator, a fixture or a context."""
    if any(_pins(ast.unparse(each)) for each in _conditions(node, source)):
        return True
    function = source.function_of(node)
    return function is not None and _FREEZING.search(ast.unparse(function)) is not None


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


def replaceable(node: ast.expr, source: Source) -> bool:
    """Say whether a value is only what a parameter has where the caller gives none, or all that a function is there for.

    A default (`if now is None: now = ...`, `now or ...`) can be handed in, and a function that does nothing else than read the
    clock is the one place at which a test replaces it.
    """
    function = source.function_of(node)
    if function is None:
        return False
    if _is_default(node, source) or _SEAMS.fullmatch(function.name):
        return True
    last = function.body[-1]
    if isinstance(last, ast.Return) and last.value is node and all(isinstance(each, _PRELUDE) for each in function.body[:-1]):
        return True
    parameters = {each.arg for each in (*function.args.args, *function.args.kwonlyargs, *function.args.posonlyargs)}
    return any(_asks_for(outer, parameters) for outer in source.above(node) if _within(outer, function, source))


def _is_default(node: ast.expr, source: Source) -> bool:
    """Say whether a value is what stands in for one that is not there: `given or now().date()`, `settings.get("now", now())`."""
    while isinstance(outer := source.parents.get(node), ast.Attribute) or (isinstance(outer, ast.Call) and outer.func is node):
        node = outer
    if isinstance(outer, ast.BoolOp) and isinstance(outer.op, ast.Or):
        return outer.values[0] is not node
    if not (isinstance(outer, ast.Call) and node in outer.args[1:]):
        return False
    return ast.unparse(outer.func).rpartition(".")[2] in {"get", "pop", "setdefault", "getattr"}


def _within(node: ast.AST, function: Function, source: Source) -> bool:
    return any(outer is function for outer in source.above(node))


def _asks_for(node: ast.AST, parameters: set[str]) -> bool:
    """Say whether a condition asks if a parameter was given."""
    if isinstance(node, ast.If | ast.IfExp):
        asked: ast.expr = node.test
    else:
        return False
    if isinstance(asked, ast.UnaryOp) and isinstance(asked.op, ast.Not):
        asked = asked.operand
    if isinstance(asked, ast.Compare) and isinstance(asked.ops[0], ast.Is | ast.IsNot | ast.Eq):
        asked = asked.left
    return isinstance(asked, ast.Name) and asked.id in parameters


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

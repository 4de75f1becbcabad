"""What only stands in for a moment that nobody has given: whoever calls may hand in another."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from paritygate.hazards.source import Function, Source

_SEAMS = re.compile(r"_*(\w+_)?(now|today)")
"""How functions are called whose one business is to say what time it is."""
_ASKING = re.compile(r"_*(\w+_)?(now|today)(_\w+)?")
_PRELUDE = (ast.Expr, ast.Import, ast.ImportFrom)
_WITH_DEFAULT = frozenset({"get", "pop", "setdefault", "getattr"})


def replaceable(node: ast.expr, source: Source) -> bool:
    """Say whether a value is only what a parameter has where the caller gives none, or all that a function is there for.

    A default (`if now is None: now = ...`, `now or ...`) can be handed in, be it by a name of its own, and a function that does
    nothing else than read the clock is the one place at which a test replaces it.
    """
    function = source.function_of(node)
    if function is None:
        return False
    if _SEAMS.fullmatch(function.name) or _returned_alone(node, function) or _asks_the_clock(function):
        return True
    parameters = {each.arg for each in (*function.args.args, *function.args.kwonlyargs, *function.args.posonlyargs)}
    if _stands_in(node, parameters, source):
        return True
    uses = list(_by_name(node, function, source))
    return bool(uses) and all(_stands_in(each, parameters, source) for each in uses)


def _asks_the_clock(function: Function) -> bool:
    """Say whether a function is called after what it does, which is to ask the clock something and no more."""
    steps = [each for each in function.body if not isinstance(each, _PRELUDE)]
    straight = all(isinstance(each, ast.Assign | ast.AnnAssign | ast.Return) for each in steps)
    return straight and _ASKING.fullmatch(function.name) is not None


def _returned_alone(node: ast.expr, function: Function) -> bool:
    last = function.body[-1]
    return isinstance(last, ast.Return) and last.value is node and all(isinstance(each, _PRELUDE) for each in function.body[:-1])


def _by_name(node: ast.expr, function: Function, source: Source) -> Iterator[ast.Name]:
    """List where the name is read that a value is given, if it has no other value."""
    named = source.parents.get(_called(node, source))
    if not (isinstance(named, ast.Assign) and isinstance(named.targets[0], ast.Name)):
        return
    known = [each for each in ast.walk(function) if isinstance(each, ast.Name) and each.id == named.targets[0].id]
    if sum(not isinstance(each.ctx, ast.Load) for each in known) == 1:
        yield from (each for each in known if isinstance(each.ctx, ast.Load))


def _stands_in(node: ast.expr, parameters: set[str], source: Source) -> bool:
    """Say whether a value, or what is made of it, is used only where something else was not given."""
    inner: ast.AST = node
    for outer in source.above(node):
        if isinstance(outer, Function):
            return False
        if _is_default(inner, outer, source) or _asks_for(outer, parameters):
            return True
        inner = outer
    return False


def _called(node: ast.expr, source: Source) -> ast.expr:
    """Go outwards from a moment to the part of it that is asked for, as in `now().date()`."""
    while isinstance(outer := source.parents.get(node), ast.Attribute) or (isinstance(outer, ast.Call) and outer.func is node):
        node = outer
    return node


def _is_default(node: ast.AST, outer: ast.AST, source: Source) -> bool:
    """Say whether a value stands in where it is: `given or ...`, `settings.get("now", ...)`, `default=...`."""
    if isinstance(outer, ast.BoolOp) and isinstance(outer.op, ast.Or):
        compared = isinstance(node, ast.Compare) or isinstance(source.parents.get(outer), ast.If | ast.While | ast.Assert)
        return outer.values[0] is not node and not compared
    if isinstance(outer, ast.keyword):
        return outer.arg == "default"
    if not (isinstance(outer, ast.Call) and node in outer.args[1:]):
        return False
    return ast.unparse(outer.func).rpartition(".")[2] in _WITH_DEFAULT


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

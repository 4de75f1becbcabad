"""Checks of the variables of the process that tests set: they stay set for every test that comes later."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from paritygate.hazards.clocks import assigned
from paritygate.hazards.fixed import holds_tests
from paritygate.hazards.found import Found, shown
from paritygate.hazards.source import Function, Role, Source
from paritygate.outcomes.hazards import HazardKind

_RESTORING = frozenset({"set_up", "__enter__"})
_FINALLY = re.compile(r"addfinalizer|addCleanup|addClassCleanup|ExitStack")
_KEEPING = re.compile(r"env|monkeypatch|mocker", re.IGNORECASE)
_SETTING = frozenset({"os.putenv", *(f"os.environ.{verb}" for verb in ("update", "setdefault", "pop", "clear"))})
_ENDING = ("teardown", "tear_down", "__exit__", "cleanup", "_cleanup")
_HANDED_ON = re.compile(r"\b(environ|getenv)\b")
_OF_ALL = re.compile(r"TZ$|LC_|LANG|PYTHONHASHSEED$")
"""What every test depends on, whatever it is about."""


def variables(source: Source) -> Iterator[Found]:
    """Find variables of the process that a test sets and does not put back; a conftest is the place where they are pinned."""
    if source.role is not Role.TEST or not holds_tests(source):
        return
    nodes = [node for node in source.nodes if isinstance(node, ast.Assign | ast.Delete | ast.Call)]
    for node in sorted(nodes, key=lambda each: each.lineno):
        name = _variable(node, source)
        if name and not _put_back(node, source):
            sure = not _removes(node) and not _sets_again(name, node, source) and _stays(name, node, source)
            yield Found(HazardKind.VARIABLE_WRITE, node, f"{shown(node)} sets a variable of the whole process", sure, of=name)


def _variable(node: ast.AST, source: Source) -> str:
    """Say which variable a node sets or removes, as the code has it; empty where it does neither."""
    targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else []
    for each in targets:
        if isinstance(each, ast.Subscript) and source.meaning(each.value) == "os.environ":
            return ast.unparse(each.slice)
    if isinstance(node, ast.Call) and source.meaning(node.func) in _SETTING:
        return ast.unparse(node.args[0]) if node.args else ast.unparse(node)
    return ""


def _sets_again(name: str, node: ast.AST, source: Source) -> bool:
    """Say whether the function that sets a variable also takes it away or restores it, if only where all goes well."""
    inside = [each for outer in source.above(node) if isinstance(outer, Function) for each in ast.walk(outer)]
    others = [each for each in inside if each is not node and _variable(each, source) == name]
    return any(_removes(each) or (isinstance(each, ast.Assign) and not _written_out(each.value)) for each in others)


def _stays(name: str, node: ast.AST, source: Source) -> bool:
    """Say whether a value is a test's own, so that it is of harm to those that come later.

    What is set where there is none, or handed on from another variable, is the same each time. What a module sets when it is
    imported is as a rule what the tested package wants to be there; the zone and the locale every other test gets as well.
    """
    if isinstance(node, ast.Call) and source.meaning(node.func) == "os.environ.setdefault":
        return False
    function = source.function_of(node)
    values = [node.value] if isinstance(node, ast.Assign) else []
    if function is not None:
        names = [each.id for each in values if isinstance(each, ast.Name)]
        values += [value for name in names for value in assigned(name, function)]
    if any(_HANDED_ON.search(ast.unparse(each)) for each in values):
        return False
    if function is None:
        return _OF_ALL.match(name.strip("'\"")) is not None
    return function.name.startswith("test") or any("fixture" in ast.unparse(each) for each in function.decorator_list)


def _written_out(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant | ast.JoinedStr)


def _removes(node: ast.AST) -> bool:
    """Say whether a node only takes a variable away, which may well never have been there."""
    return isinstance(node, ast.Delete) or (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in {"pop", "clear"}
    )


def _put_back(node: ast.AST, source: Source) -> bool:
    """Say whether the scope that sets a variable looks after it: a `finally`, a fixture that goes on, a patch, a teardown."""
    functions = [outer for outer in source.above(node) if isinstance(outer, Function)]
    careful = (ast.Try, ast.Yield, ast.YieldFrom)
    if any(isinstance(each, careful) for function in functions for each in ast.walk(function)):
        return True
    if any(_KEEPING.search(ast.unparse(each)) for each in _contexts(node, source)):
        return True
    if any(_FINALLY.search(ast.unparse(function)) for function in functions):
        return True
    if any(_KEEPING.search(each.arg) for function in functions for each in function.args.args):
        return True
    if any(_unknown_base(outer) for outer in source.above(node) if isinstance(outer, ast.ClassDef)):
        return True
    named = [function.name.lower() for function in functions]
    return any("setup" in name or name in _RESTORING or name.startswith(_ENDING) for name in named)


def _unknown_base(node: ast.ClassDef) -> bool:
    """Say whether a class has a base of which nobody here knows whether it puts variables back, or does so itself."""
    bases = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
    itself = any(isinstance(each, Function) and _cleans_up(each) for each in node.body)
    return itself or any(base not in {"object", "TestCase", "IsolatedAsyncioTestCase"} for base in bases)


def _cleans_up(method: Function) -> bool:
    """Say whether a method puts variables back, or has them put back later."""
    text = ast.unparse(method)
    return method.name.lower().startswith(_ENDING) or ("environ" in text and _FINALLY.search(text) is not None)


def _contexts(node: ast.AST, source: Source) -> Iterator[ast.AST]:
    for outer in source.above(node):
        if isinstance(outer, ast.With | ast.AsyncWith):
            yield from (item.context_expr for item in outer.items)
        elif isinstance(outer, Function | ast.ClassDef):
            yield from outer.decorator_list

"""Checks of order: what relies on the order of a folder or of a set.

Only uses that make the order visible count: a comparison with a list, an element by its number, a text that is joined, a list
made of a set that a package returns. Walking through a folder or a set is harmless by itself.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from paritygate.hazards.clocks import assigned
from paritygate.hazards.found import Found, shown
from paritygate.hazards.source import Comprehension, Role, Source
from paritygate.outcomes.hazards import HazardKind

_LISTING = frozenset({"os.listdir", "os.scandir", "glob.glob", "glob.iglob"})
_LISTING_METHODS = frozenset({"iterdir", "rglob"})
_PASSING_ON = frozenset({"list", "tuple", "map", "filter", "enumerate", "reversed"})
_SETS = frozenset({"set", "frozenset"})
_COUNTS = frozenset({"int", "len", "ord"})
_BY_SIZE = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_LEAST = 2

Unordered = Callable[[ast.AST, Source], bool]


def folder_order(source: Source) -> Iterator[Found]:
    """Find what relies on the order in which a folder is listed."""
    for node in source.nodes:
        if isinstance(node, ast.Call) and lists_folder(node, source):
            yield from _visible(node, source, HazardKind.FOLDER_ORDER)


def set_order(source: Source) -> Iterator[Found]:
    """Find what relies on the order in which a set is walked; numbers hash to themselves, so sets of them are left alone."""
    for node in source.nodes:
        if isinstance(node, ast.expr) and is_set(node, source):
            yield from _visible(node, source, HazardKind.SET_ORDER)


def lists_folder(node: ast.Call, source: Source) -> bool:
    """Say whether a call lists a folder."""
    if source.meaning(node.func) in _LISTING:
        return True
    return isinstance(node.func, ast.Attribute) and node.func.attr in _LISTING_METHODS


def is_set(node: ast.AST, source: Source) -> bool:
    """Say whether an expression is a set whose order is open."""
    if isinstance(node, ast.Set):
        return any(not _is_number(each) for each in node.elts) and len(node.elts) >= _LEAST
    if isinstance(node, ast.SetComp):
        return not _gives_numbers(node, source)
    if isinstance(node, ast.Call) and source.meaning(node.func) in _SETS and node.args:
        given = node.args[0]
        numbers = isinstance(given, ast.List | ast.Tuple | ast.Set) and all(_is_number(each) for each in given.elts)
        return not numbers and not (isinstance(given, ast.Call) and source.meaning(given.func) == "range")
    return isinstance(node, ast.Call) and _gives_set(node, source)


def _gives_set(call: ast.Call, source: Source) -> bool:
    """Say whether a call is of a function of this module that returns sets written out, and nothing else."""
    function = source.defined(call)
    given = [each.value for each in ast.walk(function) if isinstance(each, ast.Return)] if function is not None else []
    return bool(given) and all(isinstance(each, ast.Set | ast.SetComp) and is_set(each, source) for each in given)


def _gives_numbers(node: ast.SetComp, source: Source) -> bool:
    """Say whether the elements of a set are whole numbers, as they are counted or held against one."""
    if isinstance(node.elt, ast.Call):
        return source.meaning(node.elt.func) in _COUNTS
    asked = [each for generator in node.generators for one in generator.ifs for each in ast.walk(one)]
    held = [each for each in asked if isinstance(each, ast.Compare) and ast.dump(each.left) == ast.dump(node.elt)]
    return any(_is_number(each.comparators[0]) and isinstance(each.ops[0], _BY_SIZE) for each in held)


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def _visible(node: ast.expr, source: Source, kind: HazardKind) -> Iterator[Found]:
    """Follow an expression outwards, and through the name that it is given, to a use that shows its order."""
    outermost = _followed(node, source)
    use = _use(outermost, source, kind, listed=outermost is not node)
    if use:
        yield Found(kind, node, f"{use} {shown(node)}", not _handed_on(outermost, source))
        return
    named = source.parents.get(outermost)
    function = source.function_of(node)
    if isinstance(named, ast.Assign) and len(named.targets) == 1 and isinstance(named.targets[0], ast.Name) and function:
        name = named.targets[0].id
        if assigned(name, function) == [outermost] and not _sorted_later(name, function):
            for each in ast.walk(function):
                if isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Load):
                    followed = _followed(each, source)
                    if use := _use(followed, source, kind, listed=outermost is not node or followed is not each):
                        sure = not _handed_on(followed, source)
                        yield Found(kind, node, f"{use} {shown(node)} (line {each.lineno})", sure)
                        return


def _handed_on(node: ast.expr, source: Source) -> bool:
    """Say whether the order may be nothing to those who get it.

    A list that is returned, or letters without a separator, may be a bag to the caller, and an element that is taken by its
    number may come from the same order as what it is held against.
    """
    outer = source.parents.get(node)
    if isinstance(outer, ast.Subscript):
        held = source.parents.get(outer)
        written_out = isinstance(held, ast.Compare) and any(isinstance(each, ast.Constant) for each in held.comparators)
        return not written_out
    if isinstance(outer, ast.Call) and isinstance(outer.func, ast.Attribute) and source.value(outer.func.value) == "":
        outer = source.parents.get(outer)
    return isinstance(outer, ast.Return)


def _followed(node: ast.expr, source: Source) -> ast.expr:
    """Go outwards through what keeps the order: `list(...)`, `map(...)`, a comprehension over it."""
    current = node
    while True:
        outer = source.parents.get(current)
        if isinstance(outer, ast.Call) and current in outer.args and source.meaning(outer.func) in _PASSING_ON:
            current = outer
        elif isinstance(outer, ast.comprehension) and outer.iter is current:
            whole = source.parents.get(outer)
            if not (isinstance(whole, Comprehension) and whole.generators[0] is outer) or isinstance(
                whole, ast.SetComp | ast.DictComp
            ):
                return current
            current = whole
        else:
            return current


def _use(node: ast.expr, source: Source, kind: HazardKind, *, listed: bool) -> str:
    """Say how the order shows where an expression stands; empty where it does not."""
    outer = source.parents.get(node)
    has_order = listed or kind is HazardKind.FOLDER_ORDER
    if isinstance(outer, ast.Compare) and has_order:
        others = [each for each in (outer.left, *outer.comparators) if each is not node]
        equal = all(isinstance(each, ast.Eq | ast.NotEq) for each in outer.ops)
        return "a list is compared with the order of" if equal and any(_is_list(each) for each in others) else ""
    if isinstance(outer, ast.Call):
        return _use_in_call(node, outer, source)
    if isinstance(outer, ast.Subscript) and outer.value is node:
        return _use_by_number(outer)
    if isinstance(outer, ast.Return) and source.role is Role.PACKAGE and kind is HazardKind.SET_ORDER and listed:
        function = source.function_of(node)
        if function is not None and function.name == "__dir__":  # `dir` sorts
            return ""
        made = isinstance(node, ast.Call) and source.meaning(node.func) in {"list", "tuple"}
        return "a list is returned in the order of" if made else ""
    return ""


def _use_in_call(node: ast.expr, outer: ast.Call, source: Source) -> str:
    if isinstance(outer.func, ast.Attribute) and outer.func.attr == "join" and outer.args == [node]:
        text = source.value(outer.func.value)
        joined = isinstance(text, str) and _shows(outer, source)
        return "a text is joined in the order of" if joined else ""
    if isinstance(outer.func, ast.Name) and node in outer.args:
        return "a text is made in the order of" if _joins(outer, source) and _shows(outer, source) else ""
    if isinstance(outer.func, ast.Attribute) and outer.func.attr in {"assertEqual", "assertListEqual"}:
        others = [each for each in outer.args[:2] if each is not node]
        return "a list is compared with the order of" if any(_is_list(each) for each in others) else ""
    return ""


def _joins(call: ast.Call, source: Source) -> bool:
    """Say whether a call is of a function of this module that joins what it gets, as it comes."""
    function = source.defined(call)
    if function is None or len(call.args) != 1 or len(function.args.args) != 1:
        return False
    text = ast.unparse(function)
    return ".join(" in text and "sort" not in text


def _shows(joined: ast.Call, source: Source) -> bool:
    """Say whether a joined text is compared or returned, rather than a part of a message or a pattern of alternatives."""
    outer = source.parents.get(joined)
    if isinstance(outer, ast.Compare):
        return all(isinstance(each, ast.Eq) for each in outer.ops)
    return isinstance(outer, ast.Return)


def _use_by_number(outer: ast.Subscript) -> str:
    """Say whether an element is taken by its number; the first or last one may well be the only one."""
    if not (isinstance(outer.slice, ast.Constant) and isinstance(outer.slice.value, int)) or isinstance(outer.ctx, ast.Store):
        return ""
    if outer.slice.value in {0, -1}:
        return ""
    return f"element {outer.slice.value} is taken in the order of"


def _is_list(node: ast.expr) -> bool:
    return isinstance(node, ast.List | ast.Tuple) and len(node.elts) >= _LEAST


def _sorted_later(name: str, function: ast.AST) -> bool:
    return any(
        isinstance(each, ast.Attribute)
        and each.attr in {"sort", "reverse"}
        and isinstance(each.value, ast.Name)
        and each.value.id == name
        for each in ast.walk(function)
    )

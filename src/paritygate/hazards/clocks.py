"""Checks of the clock that ruff does not have: local time by other doors, clocks in assertions, reads at import."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paritygate.hazards import calendars, moments, surroundings
from paritygate.hazards.found import Found, shown
from paritygate.hazards.source import Function, Role, Source
from paritygate.outcomes.hazards import HazardKind

DATES = frozenset(
    {
        *("datetime.datetime.now", "datetime.datetime.today", "datetime.datetime.utcnow", "datetime.date.today"),
        *("time.localtime", "time.gmtime", "time.ctime", "time.asctime", "time.strftime"),
    }
)
"""What tells the date or the hour."""
SECONDS = frozenset(f"time.{name}{unit}" for name in ("time", "monotonic", "perf_counter") for unit in ("", "_ns"))
"""What counts seconds."""
_LOCALE_READS = frozenset({"locale.getlocale", "locale.getdefaultlocale", "locale.getpreferredencoding", "locale.localeconv"})
_MOMENT_GIVEN = {"time.localtime": 1, "time.gmtime": 1, "time.ctime": 1, "time.asctime": 1, "time.strftime": 2}


def reads_clock(node: ast.AST, source: Source, clocks: frozenset[str] = DATES | SECONDS) -> bool:
    """Say whether an expression reads the clock, rather than formats a moment that it is given."""
    if not isinstance(node, ast.Call):
        return False
    meaning = source.meaning(node.func)
    return meaning in clocks and len(node.args) < _MOMENT_GIVEN.get(meaning, len(node.args) + 1)


def local_time(source: Source) -> Iterator[Found]:
    """Find local time that does not go by `datetime.now` and the like, for which ruff has rules."""
    for call, meaning in source.calls():
        local = meaning in {"time.localtime", "time.mktime", "time.ctime"}
        now = meaning in {"time.strftime", "time.asctime"} and reads_clock(call, source)
        if not (local or now or _naive_stamp(call, source)) or surroundings.harmless(call, source):
            continue
        if moments.decides(call, source) if source.role is Role.PACKAGE else _spelled_out(call, source):
            sure = calendars.decides(call, source) if source.role is Role.PACKAGE else moments.spelled_out(call, source)
            yield Found(HazardKind.LOCAL_TIME, call, f"{shown(call)} goes by the machine's zone", sure)


def _spelled_out(call: ast.Call, source: Source) -> bool:
    return moments.meaning_of(call, source) is moments.Meaning.SPELLED_OUT


def _naive_stamp(call: ast.Call, source: Source) -> bool:
    """Say whether a call is `datetime(2026, 3, 29).timestamp()`: the zone is in no word of it."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "timestamp" and isinstance(call.func.value, ast.Call)):
        return False
    made = call.func.value
    return (
        source.role is not Role.PACKAGE
        and source.meaning(made.func) == "datetime.datetime"
        and len(made.args) < 8  # noqa: PLR2004  # the eighth is the zone
        and not any(each.arg in {None, "tzinfo"} for each in made.keywords)
        and not any(isinstance(each, ast.Starred) for each in made.args)
    )


def in_assertions(source: Source) -> Iterator[Found]:
    """Find tests that expect what the clock says at that moment, of something that was not given it."""
    if source.role is Role.PACKAGE:
        return
    for node in source.nodes:
        if not (isinstance(node, ast.Call) and reads_clock(node, source)) or surroundings.pinned(node, source):
            continue
        if moments.meaning_of(node, source) is moments.Meaning.EXPECTED and not moments.begins_span(node, source):
            said = f"the test expects {shown(node)} of something that was not given it"
            yield Found(HazardKind.CLOCK_IN_ASSERTION, node, said, not moments.given_away(node, source))


def assigned(name: str, function: Function) -> list[ast.expr]:
    """List what is assigned to a name in a function; an unpacking or an augmented assignment spoils it, so nothing is said."""
    values: list[ast.expr] = []
    stores = 0
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load):
            stores += 1
        if isinstance(node, ast.Assign) and any(isinstance(target, ast.Name) and target.id == name for target in node.targets):
            values.append(node.value)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name and node.value:
            values.append(node.value)
    return values if stores == len(values) else []


def at_import(source: Source) -> Iterator[Found]:
    """Find what is read from clock or locale while the module is imported and kept: a default, a constant, a parameter of tests.

    In a package only defaults count; a constant there is as a rule meant, such as the time of the program's start.
    """
    for call, meaning in source.calls():
        if not (reads_clock(call, source, DATES) or meaning in _LOCALE_READS) or surroundings.pinned(call, source):
            continue
        if source.function_of(call) is None and _kept(call, source):
            said = f"{shown(call)} is read when the module is imported"
            sure = not _falls_back(call, source) and (source.role is Role.PACKAGE or _expected_later(call, source))
            yield Found(HazardKind.READ_AT_IMPORT, call, said, sure)


def _falls_back(node: ast.AST, source: Source) -> bool:
    """Say whether a name is given what a node reads only where it has no other value, or where something else failed."""
    outer = list(source.above(node))
    names = {name for each in outer if isinstance(each, ast.Assign | ast.AnnAssign) for name in _given(each)}
    asked = [each.test for each in outer if isinstance(each, ast.If)]
    known = {each.id for test in asked for each in ast.walk(test) if isinstance(each, ast.Name)}
    return not names.isdisjoint(known) or any(isinstance(each, ast.ExceptHandler) for each in outer)


def _expected_later(node: ast.AST, source: Source) -> bool:
    """Say whether a test expects what a node gives a name, or what is made of it, and does not hand it in."""
    named = next((each for each in source.above(node) if isinstance(each, ast.Assign | ast.AnnAssign)), None)
    if named is None:
        return not any(isinstance(each, ast.arguments) for each in source.above(node))
    names: set[str] = set()
    new = _given(named)
    while new - names:
        names |= new
        made = (each for each in source.tree.body if isinstance(each, ast.Assign | ast.AnnAssign) and each.value is not None)
        new = {name for each in made if any(one in ast.walk(each) for one in _reads(names, source)) for name in _given(each)}
    uses: dict[Function, list[ast.Name]] = {}
    for each in _reads(names, source):
        function = source.function_of(each)
        if function is not None:
            uses.setdefault(function, []).append(each)
    return any(all(moments.held_against(each, source) for each in those) for those in uses.values())


def _kept(node: ast.AST, source: Source) -> bool:
    """Say whether what a node outside of functions reads outlasts the import."""
    inner = node
    for outer in source.above(node):
        if isinstance(outer, ast.Lambda) or (isinstance(outer, ast.If) and inner is outer.test):
            return False
        if isinstance(outer, ast.arguments):
            return True
        if isinstance(outer, Function | ast.ClassDef) and inner in outer.decorator_list:
            return source.role is not Role.PACKAGE and _differs_by_process(node, source)
        if isinstance(outer, ast.Assign | ast.AnnAssign):
            return outer.value is node and _decides_later(outer, node, source)
        inner = outer
    return False


def _differs_by_process(node: ast.AST, source: Source) -> bool:
    """Say whether a parameter of tests is made of the clock as text or by its parts: ids and expectations differ by worker."""
    outer = source.parents.get(node)
    return isinstance(outer, ast.Attribute) and outer.attr in moments.TELLING


def _decides_later(statement: ast.Assign | ast.AnnAssign, read: ast.AST, source: Source) -> bool:
    """Say whether a name that holds the moment of the import is taken apart or compared for what is done later."""
    days = isinstance(read, ast.Call) and source.meaning(read.func) == "datetime.date.today"
    return any(
        moments.decided_by(each, source) and (days or not _by_days(each, source)) and _lasts(each, source)
        for each in _reads(_given(statement), source)
    )


def _by_days(node: ast.AST, source: Source) -> bool:
    """Say whether a moment is shifted by whole days: to it, a test that comes somewhat later is the same."""
    outer = source.parents.get(node)
    if not isinstance(outer, ast.BinOp):
        return False
    by = outer.right if outer.left is node else outer.left
    return isinstance(by, ast.Call) and not by.args and {each.arg for each in by.keywords} <= {"days", "weeks"}


def _lasts(node: ast.AST, source: Source, *known: str) -> bool:
    """Say whether what is made of a name is used after the import: in a function, or by a name that is."""
    whole: ast.AST = node
    while not isinstance(whole, ast.stmt):
        whole = source.parents[whole]
    if not isinstance(whole, ast.Assign | ast.AnnAssign) or source.parents.get(whole) is not source.tree:
        return True
    names = _given(whole) - set(known)
    return any(_lasts(each, source, *known, *names) for each in _reads(names, source))


def _given(statement: ast.Assign | ast.AnnAssign) -> set[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}


def _reads(names: set[str], source: Source) -> Iterator[ast.Name]:
    for each in source.nodes:
        if isinstance(each, ast.Name) and each.id in names and isinstance(each.ctx, ast.Load):
            yield each

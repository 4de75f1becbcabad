"""Checks of what tests share although they should not: ports, temporary paths, variables of the process."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from paritygate.hazards.found import Found, shown
from paritygate.hazards.source import Function, Role, Source
from paritygate.outcomes.hazards import HazardKind

_SERVERS = re.compile(r"(.*\.)?(\w*HTTPServer|\w*TCPServer|\w*UDPServer|create_server|start_server|make_server|\w*XMLRPCServer)")
_RUNNERS = re.compile(r"(uvicorn|waitress|app|web)\.(run|run_app|serve)")
_TEMPORARY = re.compile(r"/(tmp|var/tmp|dev/shm)/[^/].*|[A-Za-z]:[\\/](temp|tmp|windows[\\/]temp)[\\/].+", re.IGNORECASE)
_WRITING_CALLS = frozenset(
    {
        *("os.mkdir", "os.makedirs", "os.remove", "os.unlink", "os.rename", "os.replace", "os.symlink", "os.mkfifo", "os.rmdir"),
        *("shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree", "shutil.move", "shutil.rmtree", "sqlite3.connect"),
    }
)
_WRITING_METHODS = frozenset(
    {"write_text", "write_bytes", "mkdir", "touch", "unlink", "rmdir", "symlink_to", "rename", "replace"}
)
_READ_MODES = frozenset({"r", "rb", "rt"})
_RESTORING = frozenset({"set_up", "__enter__"})
_FINALLY = re.compile(r"addfinalizer|addCleanup|addClassCleanup|ExitStack")
_KEEPING = re.compile(r"env|monkeypatch|mocker", re.IGNORECASE)
_SETTING = frozenset({"os.putenv", *(f"os.environ.{verb}" for verb in ("update", "setdefault", "pop", "clear"))})
_ENDING = ("teardown", "tear_down", "__exit__", "cleanup", "_cleanup")
_HIGHEST_PORT = 65_535


def ports(source: Source) -> Iterator[Found]:
    """Find ports that a test listens on by number; a script beside the tests may be one that none of them starts."""
    if source.role is Role.PACKAGE:
        return
    for call, meaning in source.calls():
        port = _listening(call, meaning, source)
        if port is not None:
            yield Found(HazardKind.FIXED_PORT, call, f"{shown(call)} listens on port {port}", _collected(source))


def _listening(call: ast.Call, meaning: str, source: Source) -> int | None:
    given: list[ast.expr] = []
    bound = isinstance(call.func, ast.Attribute) and call.func.attr == "bind" and not _stands_in(call, source)
    server = _SERVERS.fullmatch(meaning) is not None
    if bound or server:
        given += [each.elts[1] for each in call.args[:1] if isinstance(each, ast.Tuple) and len(each.elts) > 1]
    if server or _RUNNERS.fullmatch(meaning):
        given += [each.value for each in call.keywords if each.arg == "port"]
    if server and meaning.endswith(("start_server", "create_server", "make_server")):
        given += call.args[1:3]
    for each in given:
        value = source.value(each)
        if type(value) is int and 0 < value <= _HIGHEST_PORT:
            return value
    return None


def _stands_in(call: ast.Call, source: Source) -> bool:
    """Say whether a test works with something that only looks like a socket."""
    function = source.function_of(call)
    return function is not None and re.search(r"fake|mock", ast.unparse(function), re.IGNORECASE) is not None


def temporary_paths(source: Source) -> Iterator[Found]:
    """Find files in a shared temporary folder that a test writes, makes or removes under a fixed name.

    A helper beside the tests may do so only where somebody asks for it.
    """
    if source.role is Role.PACKAGE:
        return
    sure = _holds_tests(source)
    for call, meaning in source.calls():
        for each in written(call, meaning, source):
            value = source.value(each)
            if isinstance(value, str) and _TEMPORARY.fullmatch(value):
                what = f"`{value}` is one for all in {shown(call)}"
                yield Found(HazardKind.FIXED_TEMPORARY_PATH, call, what, sure, of=value)


def written(call: ast.Call, meaning: str, source: Source, *, deep: bool = False) -> list[ast.expr]:
    """List the paths that a call writes, makes or removes; `deep`: also where a method is called of some other expression."""
    if meaning in {"open", "io.open"}:
        modes = [*call.args[1:2], *(each.value for each in call.keywords if each.arg == "mode")]
        mode = source.value(modes[0]) if modes else "r"
        return call.args[:1] if isinstance(mode, str) and mode not in _READ_MODES else []
    if meaning in _WRITING_CALLS:
        return call.args[:2]
    if isinstance(call.func, ast.Attribute) and call.func.attr in _WRITING_METHODS:
        made = call.func.value
        if deep:
            return [made]
        if isinstance(made, ast.Call) and source.meaning(made.func) in {"pathlib.Path", "pathlib.PosixPath"}:
            return made.args[:1]
    return []


def variables(source: Source) -> Iterator[Found]:
    """Find variables of the process that a test sets and does not put back; a conftest is the place where they are pinned."""
    if source.role is not Role.TEST or not _holds_tests(source):
        return
    nodes = [node for node in ast.walk(source.tree) if isinstance(node, ast.Assign | ast.Delete | ast.Call)]
    for node in sorted(nodes, key=lambda each: each.lineno):
        name = _variable(node, source)
        if name and not _put_back(node, source):
            sure = not _removes(node) and not _removed_again(name, node, source)
            yield Found(HazardKind.VARIABLE_WRITE, node, f"{shown(node)} sets a variable of the whole process", sure, of=name)


def _collected(source: Source) -> bool:
    """Say whether pytest reads a file by itself."""
    return source.role is Role.CONFTEST or _holds_tests(source)


def _holds_tests(source: Source) -> bool:
    name = source.path.rpartition("/")[2]
    defined = (each.name for each in ast.walk(source.tree) if isinstance(each, Function | ast.ClassDef))
    return (name.startswith("test") or name.endswith("_test.py")) and any("test" in each.lower() for each in defined)


def _variable(node: ast.AST, source: Source) -> str:
    """Say which variable a node sets or removes, as the code has it; empty where it does neither."""
    targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else []
    for each in targets:
        if isinstance(each, ast.Subscript) and source.meaning(each.value) == "os.environ":
            return ast.unparse(each.slice)
    if isinstance(node, ast.Call) and source.meaning(node.func) in _SETTING:
        return ast.unparse(node.args[0]) if node.args else ast.unparse(node)
    return ""


def _removed_again(name: str, node: ast.AST, source: Source) -> bool:
    """Say whether the function that sets a variable also takes it away, if only where all goes well."""
    inside = [each for outer in source.above(node) if isinstance(outer, Function) for each in ast.walk(outer)]
    return any(_removes(each) and _variable(each, source) == name for each in inside)


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

"""Checks of what tests share although they should not by a name or number that is written out: ports, temporary paths."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from paritygate.hazards import surroundings
from paritygate.hazards.clocks import assigned
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
_FIRST_FOR_ALL = 1024
"""The first port that everybody may listen on; who takes one below mostly wants to be refused."""
_HIGHEST_PORT = 65_535
_SOCKET = re.compile(r"sock|server|listen", re.IGNORECASE)


def ports(source: Source) -> Iterator[Found]:
    """Find ports that a test listens on by number; a script beside the tests may be one that none of them starts."""
    if source.role is Role.PACKAGE:
        return
    for call, meaning in source.calls():
        port = _listening(call, meaning, source)
        if port is not None and not surroundings.stands_in(call, source):
            sure = _collected(source) and port >= _FIRST_FOR_ALL and _is_socket(call, source)
            yield Found(HazardKind.FIXED_PORT, call, f"{shown(call)} listens on port {port}", sure)


def _listening(call: ast.Call, meaning: str, source: Source) -> int | None:
    given: list[ast.expr] = []
    bound = isinstance(call.func, ast.Attribute) and call.func.attr == "bind"
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


def _is_socket(call: ast.Call, source: Source) -> bool:
    """Say whether what is bound is a socket, by its name or what makes it; a queue or a directory may have a `bind` too."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "bind"):
        return True
    bound = call.func.value
    function = source.function_of(call)
    made = assigned(bound.id, function) if isinstance(bound, ast.Name) and function is not None else []
    return any(_SOCKET.search(ast.unparse(each)) for each in (bound, *made))


def temporary_paths(source: Source) -> Iterator[Found]:
    """Find files in a shared temporary folder that a test writes, makes or removes under a fixed name.

    A helper beside the tests may do so only where somebody asks for it.
    """
    if source.role is Role.PACKAGE:
        return
    sure = holds_tests(source)
    for call, meaning in source.calls():
        for each in written(call, meaning, source):
            value = source.value(each)
            if isinstance(value, str) and _TEMPORARY.fullmatch(value) and not surroundings.stands_in(call, source):
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


def _collected(source: Source) -> bool:
    """Say whether pytest reads a file by itself."""
    return source.role is Role.CONFTEST or holds_tests(source)


def holds_tests(source: Source) -> bool:
    """Say whether a file is one that pytest collects tests from."""
    name = source.path.rpartition("/")[2]
    defined = (each.name for each in source.nodes if isinstance(each, Function | ast.ClassDef))
    return (name.startswith("test") or name.endswith("_test.py")) and any("test" in each.lower() for each in defined)

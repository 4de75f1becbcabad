"""Checks of files that tests read: names that git has in another case, files that git does not have.

It asks nobody: what git tracks and what the disk has is handed in.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping

import msgspec

from paritygate.hazards import fixed
from paritygate.hazards.found import Found
from paritygate.hazards.source import Role, Source
from paritygate.outcomes.hazards import HazardKind

_LIKE_A_FILE = re.compile(r"[^\s:*?\"<>|{}%\\]*[^\s:*?\"<>|{}%\\/.][^\s:*?\"<>|{}%\\/]*\.[A-Za-z0-9]{1,8}")
_OPENING = frozenset({"open", "io.open", "codecs.open", "os.stat", "os.path.getsize", "shutil.copy", "shutil.copyfile"})
_READING_METHODS = frozenset({"read_text", "read_bytes", "open", "joinpath"})
_ASKING_METHODS = frozenset({"exists", "is_file"})
_PATHS = frozenset({"pathlib.Path", "pathlib.PurePath", "os.path.join"})
_HERE = "\0here"
_MOVING = re.compile(r"chdir|isolated_filesystem|tmp_?path|tmp_?dir|temp_?dir|pytester|testdir", re.IGNORECASE)


class Names(msgspec.Struct, frozen=True, kw_only=True):
    """What git and the disk have, as paths from the project; all empty without git.

    `untracked` says for each file that git does not track whether it is `untracked` or `ignored`. `folded` are the tracked
    files, and the folders above them, by a spelling without case. `renamed` are names on disk whose tracked name differs in
    case, with that. `ascii_of` says of a tracked file whether all of it is ASCII.
    """

    tracked: frozenset[str] = frozenset()
    untracked: Mapping[str, str] = {}
    folded: Mapping[str, str] = {}
    renamed: Mapping[str, str] = {}
    ascii_of: Callable[[str], bool] = lambda _path: True

    def called(self, base: str) -> list[str]:
        """List the tracked files of this name, wherever they are."""
        return [path for path in self.tracked if path == base or path.endswith(f"/{base}")]


def read_files(source: Source, names: Names) -> Iterator[Found]:
    """Find files that a test names, opens and would not find in a fresh clone."""
    if source.role is Role.PACKAGE or not names.tracked:
        return
    made = _made(source)
    for node, text in _named(source):
        path = _place(source, text)
        kept = names.folded.get(path.casefold(), path)
        if not path or path in names.tracked or posixpath.basename(path) in made or _elsewhere(node, text, source):
            continue
        if kept != path:
            yield Found(HazardKind.NAME_CASE, node, f"`{path}` is `{kept}` in git")
        elif path in names.untracked:
            yield Found(HazardKind.UNTRACKED_FILE, node, f"`{path}` is {names.untracked[path]}")


def imports(source: Source, names: Names) -> Iterator[Found]:
    """Find imports of modules that the disk calls otherwise than git."""
    modules = {_module(disk): _module(kept) for disk, kept in names.renamed.items() if disk.endswith(".py")}
    if not modules:
        return
    for node in source.nodes:
        for wanted in _imported(node, source):
            if isinstance(node, ast.stmt) and wanted in modules:
                yield Found(HazardKind.NAME_CASE, node, f"`{wanted}` is `{modules[wanted]}` in git")


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").removeprefix("src/").replace("/", ".")


def _imported(node: ast.AST, source: Source) -> list[str]:
    if isinstance(node, ast.Import):
        return [each.name for each in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    package = _module(source.path).split(".")
    above = package[: len(package) - node.level] if node.level else []
    start = ".".join((*above, *((node.module,) if node.module else ())))
    return [start, *(f"{start}.{each.name}".lstrip(".") for each in node.names)]


def _named(source: Source) -> Iterator[tuple[ast.expr, str]]:
    """List the texts that look like a file's name and stand where a file is opened or its path put together."""
    for node in source.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _LIKE_A_FILE.fullmatch(node.value):
            path = _whole(node, source)
            if path is not None and _opened(path, source):
                yield node, _written_out(path, source)


def _elsewhere(node: ast.AST, text: str, source: Source) -> bool:
    """Say whether a relative name is meant from another folder than the project: the test works in a temporary one."""
    function = source.function_of(node)
    return not text.startswith(_HERE) and function is not None and _MOVING.search(ast.unparse(function)) is not None


def _made(source: Source) -> set[str]:
    """List the names of files that the module writes itself: after a run they lie about, and no clone needs them."""
    return {
        posixpath.basename(each.value)
        for call, meaning in source.calls()
        for written in fixed.written(call, meaning, source, deep=True)
        for each in ast.walk(written)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    }


def _whole(node: ast.expr, source: Source) -> ast.expr | None:
    """Go outwards from the last part of a path to the whole of it, as in `HERE / "data" / "a.json"`."""
    current = node
    while True:
        outer = source.parents.get(current)
        if isinstance(outer, ast.BinOp) and isinstance(outer.op, ast.Div):
            if outer.right is not current and current is node:
                return None
            current = outer
        elif isinstance(outer, ast.Call) and source.meaning(outer.func) in _PATHS and outer.args[-1:] == [current]:
            current = outer
        else:
            return current


def _opened(path: ast.expr, source: Source) -> bool:
    """Say whether a path is opened for reading where it stands."""
    outer = source.parents.get(path)
    if isinstance(outer, ast.Call) and outer.args[:1] == [path]:
        mode = source.value(outer.args[1]) if len(outer.args) > 1 else "r"
        return source.meaning(outer.func) in _OPENING and isinstance(mode, str) and mode.startswith("r")
    if isinstance(outer, ast.Attribute) and outer.value is path and outer.attr in _ASKING_METHODS:
        return isinstance(source.parents.get(source.parents.get(outer, outer)), ast.Assert)
    if isinstance(outer, ast.Attribute) and outer.value is path and outer.attr in _READING_METHODS:
        call = source.parents.get(outer)
        if isinstance(call, ast.Call) and outer.attr == "open" and call.args:
            mode = source.value(call.args[0])
            return isinstance(mode, str) and mode.startswith("r")
        return True
    return False


def _written_out(path: ast.expr, source: Source) -> str:
    r"""Put the parts of a path together; what is not written out is `\\0`, the test's own folder `_HERE`."""
    if isinstance(path, ast.Constant):
        return str(path.value)
    if isinstance(path, ast.BinOp):
        return f"{_written_out(path.left, source)}/{_written_out(path.right, source)}"
    if isinstance(path, ast.Call) and source.meaning(path.func) in _PATHS:
        return "/".join(_written_out(each, source) for each in path.args)
    return _folder(path, source)


def _folder(node: ast.expr, source: Source) -> str:
    """Say which folder an expression or a name of the module is, where it comes from `__file__`."""
    if isinstance(node, ast.Name):
        for statement in source.tree.body:
            if isinstance(statement, ast.Assign) and any(ast.unparse(target) == node.id for target in statement.targets):
                return _written_out(statement.value, source) if not isinstance(statement.value, ast.Name) else "\0"
        return "\0"
    text = ast.unparse(node)
    if "__file__" not in text:
        return "\0"
    upwards = text.count(".parent") - text.count(".parents") + text.count("dirname(")
    if found := re.search(r"\.parents\[(\d+)\]", text):
        upwards += int(found[1]) + 1
    return _HERE + "/.." * (upwards - 1) if upwards else "\0"


def _place(source: Source, text: str) -> str:
    """Say which path from the project a text means; empty where it lies outside or is not all written out.

    What is relative is so to the project, where pytest is started.
    """
    if text.startswith(_HERE):
        text = posixpath.join(posixpath.dirname(source.path), text.removeprefix(_HERE).lstrip("/"))
    path = posixpath.normpath(text)
    return "" if "\0" in path or path.startswith(("/", "~", "..")) else path

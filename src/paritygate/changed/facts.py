"""What one Python file tells by its text: which modules and files it may see. It runs nothing, and errs towards more."""

from __future__ import annotations

import ast
import posixpath
import re
import warnings
from collections.abc import Iterator

import msgspec

_DYNAMIC = frozenset(
    {
        "__import__",
        "entry_points",
        "exec_module",
        "import_module",
        "importorskip",
        "iter_modules",
        "load_module",
        "resolve_name",
        "run_module",
        "run_path",
        "spec_from_file_location",
        "walk_packages",
    }
)
_STARTING = frozenset(
    {
        "Popen",
        "check_call",
        "check_output",
        "create_subprocess_exec",
        "create_subprocess_shell",
        "fork",
        "pexpect",
        "popen",
        "posix_spawn",
        "script_runner",
        "subprocess",
        "system",
        "testdir",
        "pytester",
    }
)
_STARTING_PREFIXES = ("execl", "execv", "spawnl", "spawnv")
_LISTING = frozenset(
    {
        "contents",
        "copytree",
        "files",
        "get_data",
        "glob",
        "iglob",
        "iterdir",
        "listdir",
        "rglob",
        "scandir",
        "walk",
    }
)
_RUNNING_TEXT = frozenset({"eval", "exec"})
_LISTS = frozenset({"pytest_plugins", "INSTALLED_APPS"})
_GROWING = ast.AugAssign | ast.AnnAssign
_MODULE = re.compile(r"\.*[^\W\d]\w*(\.[^\W\d]\w*)*(:[^\W\d]\w*(\.\w+)*)?")
_LONGEST = 1000


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What a file may see.

    `modules` are dotted names that it imports or that its texts spell, `near` places in the tree that relative imports mean
    (without `.py`), `texts` its short texts, `defined` its functions and classes. `lists` says that it lists folders, `opaque`
    why nobody can say what it sees: empty where one can.
    """

    modules: frozenset[str] = frozenset()
    near: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    defined: frozenset[str] = frozenset()
    lists: bool = False
    opaque: str = ""


def read(path: str, content: bytes, *, test_side: bool) -> Facts:
    """Read a file; of one that helps tests, `test_side`, even a process that it starts may be the project's own."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes and the like are the business of whoever runs the file
            tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Facts(opaque="Python cannot parse it")
    nodes = list(ast.walk(tree))
    texts = frozenset(_texts(nodes))
    names = frozenset(_names(nodes))
    spelled = {text for text in texts if _MODULE.fullmatch(text) and not text.endswith(".py")}
    lazy = "__getattr__" in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    return Facts(
        modules=frozenset(_imported(nodes))
        | frozenset(_loaded(nodes))
        | {text.replace(":", ".") for text in spelled if "." in text.strip(".")},
        near=frozenset(_near(path, nodes)) | frozenset(_spelled_near(path, spelled, lazy=lazy)),
        texts=texts,
        defined=frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)),
        lists=not _LISTING.isdisjoint(names),
        opaque=_opaque(nodes, names, texts, test_side=test_side),
    )


def together(one: Facts, other: Facts) -> Facts:
    """Tell what either of two versions of a file may see."""
    return Facts(
        modules=one.modules | other.modules,
        near=one.near | other.near,
        texts=one.texts | other.texts,
        defined=one.defined | other.defined,
        lists=one.lists or other.lists,
        opaque=one.opaque or other.opaque,
    )


def _imported(nodes: list[ast.AST]) -> Iterator[str]:
    """List absolute imports, each thing taken from a module as if it were one, and what is reached by attributes."""
    bound: dict[str, set[str]] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for each in node.names:
                yield each.name
                top = each.name.partition(".")[0]
                bound.setdefault(each.asname or top, set()).add(each.name if each.asname else top)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module
            for each in node.names:
                yield f"{node.module}.{each.name}"
                bound.setdefault(each.asname or each.name, set()).add(f"{node.module}.{each.name}")
    yield from (_constant(node) for node in nodes if isinstance(node, ast.Call) and _called(node) in _DYNAMIC)
    inner = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    for top, _, rest in (_chain(node).partition(".") for node in nodes if id(node) not in inner):
        if rest:
            yield from (f"{module}.{rest}" for module in bound.get(top, ()))


def _loaded(nodes: list[ast.AST]) -> Iterator[str]:
    """List the modules that pytest or a framework loads because a list names them; a name without a dot is one only there."""
    for node in nodes:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, _GROWING) else []
        if isinstance(node, ast.Assign | _GROWING) and node.value and any(_chain(each) in _LISTS for each in targets):
            yield from _texts(list(ast.walk(node.value)))


def _near(path: str, nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.level:
            place = posixpath.join(_above(path, node.level), (node.module or "").replace(".", "/")).rstrip("/")
            yield place
            yield from (posixpath.join(place, each.name) for each in node.names)


def _spelled_near(path: str, spelled: set[str], *, lazy: bool) -> Iterator[str]:
    """List the places that names in texts mean beside the file: `.core`, and in a module that imports on demand also `core`."""
    for text in spelled:
        name = text.lstrip(".")
        level = len(text) - len(name)
        if level or lazy:
            yield posixpath.join(_above(path, level or 1), name.partition(":")[0].replace(".", "/"))


def _above(path: str, level: int) -> str:
    folder = path
    for _ in range(level):
        folder = posixpath.dirname(folder)
    return folder


def _texts(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and len(node.value) <= _LONGEST:
            yield node.value if isinstance(node.value, str) else node.value.decode("utf-8", "replace")


def _names(nodes: list[ast.AST]) -> Iterator[str]:
    """List every name by which something could be called or asked for, arguments too: fixtures are asked for so."""
    for node in nodes:
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                for each in names:
                    yield from each.name.split(".")
                yield from (getattr(node, "module", "") or "").split(".")
            case _:
                pass


def _opaque(nodes: list[ast.AST], names: frozenset[str], texts: frozenset[str], *, test_side: bool) -> str:
    if any(isinstance(node, ast.Call) and _called(node) in _DYNAMIC and not _constant(node) for node in nodes) or _lent(nodes):
        return "it imports modules whose names are made while it runs"
    if any("lazy" in name.casefold() or name == "apipkg" for name in _tops(nodes)):
        return "it imports by way of a lazy loader"
    starts = not _STARTING.isdisjoint(names) or any(name.startswith(_STARTING_PREFIXES) for name in names)
    if starts and (test_side or "executable" in names or any("python" in text for text in texts)):
        return "it starts processes"
    if test_side and any(isinstance(node, ast.Call) and _called(node) in _RUNNING_TEXT for node in nodes):
        return "it runs text as code"
    return ""


def _lent(nodes: list[ast.AST]) -> bool:
    """Say whether what imports by name is handed on or gets another name, as `map(import_module, names)` does."""
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    renamed = {each.name for node in nodes if isinstance(node, ast.ImportFrom) for each in node.names if each.asname}
    handed = {_last(node) for node in nodes if isinstance(node, ast.Name | ast.Attribute) and id(node) not in called}
    return not _DYNAMIC.isdisjoint(renamed | handed)


def _last(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def _tops(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (each.name.partition(".")[0] for each in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0]


def _called(call: ast.Call) -> str:
    function = call.func
    return _last(function) if isinstance(function, ast.Name | ast.Attribute) else ""


def _constant(call: ast.Call) -> str:
    """Say which module a call names by constants, the second of which may be what it is relative to; empty for any other."""
    given = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    name = given[0] if given and len(given) == len(call.args) else ""
    if not name.startswith("."):
        return name
    return f"{given[1]}{name}" if len(given) > 1 and not name.startswith("..") else ""


def _chain(node: ast.AST) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(parts))) if isinstance(node, ast.Name) else ""

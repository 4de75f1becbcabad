"""Where a missing `encoding` makes a difference: a locale spoils only letters that are not ASCII.

What is certainly ASCII is left out, and so is what nobody would put other letters into, such as a process id. In a package that
leaves files of text that people write; in a test, files that hold or get other letters as far as can be seen.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator

from paritygate.hazards.files import Names
from paritygate.hazards.found import Found, shown
from paritygate.hazards.source import Role, Source
from paritygate.outcomes.hazards import HazardKind

_PLAIN = re.compile(r"pid|lock|key|cert|pem\b|devnull|/proc/|/dev/|pickle|digest|checksum|\bfd\b", re.IGNORECASE)
_TEXT = re.compile(
    r"yaml|toml|csv|configparser|config|template|html|markdown|readme|\btext|\.(md|rst|txt|log|ini|cfg)\b|message",
    re.IGNORECASE,
)
_MADE = re.compile(r"tmp|temp|site_dir|output|out_dir|dest|build", re.IGNORECASE)
_ENCODING_AT = {"read_text": 0, "write_text": 1}
"""The methods of paths, with how many arguments come before the encoding."""
_WRITING = frozenset({"write", "writelines", "write_text"})


def paths(source: Source, names: Names) -> Iterator[Found]:
    """Find texts that tests read or write by a path: that `tmp_path / "a"` is one is nothing that ruff can know."""
    if source.role is Role.PACKAGE:
        return
    for call, _ in source.calls():
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in _ENCODING_AT or call.keywords:
            continue
        if len(call.args) == _ENCODING_AT[call.func.attr] and matters(call, source, names):
            yield Found(HazardKind.LOCALE_ENCODING, call, left_open(call))


def left_open(call: ast.Call) -> str:
    """Say what is wrong with a call."""
    return f"{shown(call)} leaves the encoding to the locale"


def matters(call: ast.Call, source: Source, names: Names) -> bool:
    """Say whether the encoding of the text file that a call opens makes a difference."""
    path = _path(call)
    target = source.value(path)
    if (
        isinstance(target, int)
        or _PLAIN.search(f"{ast.unparse(path)}{target}")
        or _only_closed(call, source)
        or _compared_with_ascii(call, source)
        or _own_ascii_file(path, source, names)
    ):
        return False
    block = _block(call, source)
    if all(isinstance(each, ast.Pass) for each in block):
        return False
    text = "\n".join(ast.unparse(each) for each in block)
    if _escapes(text) or _PLAIN.search(text) or _only_ascii_written(call, block):
        return False
    if source.role is Role.PACKAGE:
        return _TEXT.search(f"{text}\n{ast.unparse(call)}\n{_where(call, source)}") is not None
    return _other_letters(call, source, names)


def _escapes(text: str) -> bool:
    """Say whether code writes JSON or YAML in ASCII, as their libraries do unless they are told otherwise."""
    json = "json.dump(" in text and "ensure_ascii" not in text
    return json or (re.search(r"yaml[._](safe_)?dump\(", text) is not None and "allow_unicode" not in text)


def _path(call: ast.Call) -> ast.expr:
    """Say what a call opens: what a method is called of, or what a function is given."""
    if isinstance(call.func, ast.Attribute):
        opened = call.func.attr == "open" and not isinstance(call.func.value, ast.Name)  # a name may be a module's
        if opened or call.func.attr in _ENCODING_AT:
            return call.func.value
    return call.args[0] if call.args else call


def _own_ascii_file(path: ast.expr, source: Source, names: Names) -> bool:
    """Say whether a path is that of a file that lies beside the code, by its written-out name, and is all ASCII."""
    made = [
        each.value
        for each in source.tree.body
        if isinstance(each, ast.Assign) and isinstance(path, ast.Name) and ast.unparse(each.targets[0]) == path.id
    ]
    whole = made[0] if len(made) == 1 else path
    if "__file__" not in ast.unparse(whole):
        return False
    known = [each for text in _texts(whole, set(), None) if "." in text for each in names.called(posixpath.basename(text))]
    return bool(known) and all(names.ascii_of(each) for each in known)


def _only_closed(call: ast.Call, source: Source) -> bool:
    outer = source.parents.get(call)
    return isinstance(outer, ast.Attribute) and outer.attr == "close"


def _block(call: ast.Call, source: Source) -> list[ast.stmt]:
    """List the statements that work with an opened file: of its `with`, else the one that opens it."""
    for outer in source.above(call):
        if isinstance(outer, ast.With | ast.AsyncWith):
            return outer.body
        if isinstance(outer, ast.stmt):
            return [outer]
    return []


def _where(call: ast.Call, source: Source) -> str:
    """Say what the places are called that a call is in: module, classes, function."""
    outer = [each.name for each in source.above(call) if isinstance(each, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)]
    return "\n".join((posixpath.basename(source.path), *outer))


def _only_ascii_written(call: ast.Call, block: list[ast.stmt]) -> bool:
    """Say whether all that is written is written out, and ASCII."""
    written = [
        argument
        for statement in (*block, call)
        for each in ast.walk(statement)
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _WRITING
        for argument in each.args
    ]
    return bool(written) and all(_is_ascii(each) for each in written)


def _is_ascii(node: ast.AST) -> bool:
    """Say whether an expression is a text of ASCII that is written out, be it a repeated one or a sum of such."""
    if isinstance(node, ast.BinOp):
        sides = [_is_ascii(node.left), _is_ascii(node.right)]
        return all(sides) if isinstance(node.op, ast.Add) else isinstance(node.op, ast.Mult) and any(sides)
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isascii()


def _other_letters(call: ast.Call, source: Source, names: Names) -> bool:
    """Say whether a test has other letters in sight, or reads a tracked file that has."""
    own = set(ast.walk(_path(call)))
    function = source.function_of(call)
    if function is None:
        return any(not text.isascii() for text in _texts(call, own, None))
    if any(not text.isascii() for text in _texts(function, own, ast.get_docstring(function, clean=False))):
        return True
    named = [text for each in (_path(call), *function.decorator_list) for text in _texts(each, set(), None)]
    return not _MADE.search(ast.unparse(function)) and any(_names_other(text, names) for text in named)


def _compared_with_ascii(call: ast.Call, source: Source) -> bool:
    """Say whether what is read is expected to be something that is all ASCII."""
    outer = source.parents.get(call)
    if not isinstance(outer, ast.Compare):
        return False
    others = [each for each in (outer.left, *outer.comparators) if each is not call]
    return all(_is_ascii(each) for each in others)


def _texts(region: ast.AST, own: set[ast.AST], documented: str | None) -> Iterator[str]:
    """List the texts in a part of the code but for its docstring and the name of the file, which is no part of its text."""
    for each in ast.walk(region):
        text = each.value if isinstance(each, ast.Constant) else None
        if isinstance(text, str) and text != documented and (each not in own or text.isascii()):
            yield text


def _names_other(text: str, names: Names) -> bool:
    """Say whether a text is the name of a tracked file that is not all ASCII; where several are called so, of all of them."""
    base = posixpath.basename(text)
    known = names.called(base) if "." in base else []
    return bool(known) and not any(names.ascii_of(path) for path in known)

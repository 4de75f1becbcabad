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
from paritygate.hazards.found import shown
from paritygate.hazards.source import Role, Source

_PLAIN = re.compile(r"pid|lock|key|cert|pem\b|devnull|/proc/|/dev/|pickle|digest|checksum|\bfd\b", re.IGNORECASE)
_TEXT = re.compile(
    r"yaml|toml|json\.load|csv|configparser|config|template|html|markdown|readme|\btext|\.(md|rst|txt|log|ini|cfg)\b|message",
    re.IGNORECASE,
)
_MADE = re.compile(r"tmp|temp|site_dir|output|out_dir|dest|build", re.IGNORECASE)
_WRITING = frozenset({"write", "writelines", "write_text"})


def matters(call: ast.Call, source: Source, names: Names) -> bool:
    """Say whether the encoding of the text file that a call opens makes a difference."""
    target = source.value(call.args[0]) if call.args else None
    opened = call.func.value if isinstance(call.func, ast.Attribute) else call
    if isinstance(target, int) or _PLAIN.search(f"{ast.unparse(opened)}{target}") or _only_closed(call, source):
        return False
    block = _block(call, source)
    text = "\n".join(ast.unparse(each) for each in block)
    if ("json.dump(" in text and "ensure_ascii" not in text) or _PLAIN.search(text) or _only_ascii_written(call, block):
        return False
    if source.role is Role.PACKAGE:
        return _TEXT.search(f"{text}\n{ast.unparse(call)}\n{_where(call, source)}") is not None
    return _other_letters(call, source, names)


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
    return bool(written) and all(
        isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value.isascii() for each in written
    )


def _other_letters(call: ast.Call, source: Source, names: Names) -> bool:
    """Say whether a test has other letters in sight, or reads a tracked file that has."""
    region = source.function_of(call) or source.tree
    own = set(ast.walk(call))
    texts = list(_texts(region, own, ast.get_docstring(region, clean=False)))
    if any(not text.isascii() for text in texts):
        return True
    said = ast.unparse(region) if region is not source.tree else shown(call)
    return not _MADE.search(said) and any(_names_other(text, names) for text in texts)


def _texts(region: ast.AST, own: set[ast.AST], documented: str | None) -> Iterator[str]:
    """List the texts in a function or a module but for its docstring and, in the call itself, those that are no letters."""
    for each in ast.walk(region):
        text = each.value if isinstance(each, ast.Constant) else None
        if isinstance(text, str) and text != documented and (each not in own or text.isascii()):
            yield text


def _names_other(text: str, names: Names) -> bool:
    """Say whether a text is the name of a tracked file that is not all ASCII."""
    base = posixpath.basename(text)
    return "." in base and any(not names.ascii_of(path) for path in names.called(base))

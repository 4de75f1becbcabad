"""What a call that opens a text file opens, how, and whether a test gets back what went there in the same encoding."""

from __future__ import annotations

import ast
import re

from paritygate.hazards.source import Function, Source

_HANDLING = re.compile(r"open|print|str|(io|codecs|os|os\.path|shutil|pathlib)\.\w+")
"""Calls of Python itself, which are given paths without being what is tested."""
_READ_MODES = frozenset({"r", "rt"})
ENCODING_AT = {"read_text": 0, "write_text": 1}
"""The methods of paths, with how many arguments come before the encoding."""


def path_of(call: ast.Call) -> ast.expr:
    """Say what a call opens: what a method is called of, or what a function is given."""
    if isinstance(call.func, ast.Attribute):
        opened = call.func.attr == "open" and not isinstance(call.func.value, ast.Name)  # a name may be a module's
        if opened or call.func.attr in ENCODING_AT:
            return call.func.value
    return call.args[0] if call.args else call


def reads(call: ast.Call, source: Source) -> bool:
    """Say whether a call opens a file for reading, and something is done with what it opens; a temporary one is written first."""
    if source.meaning(call.func).startswith("tempfile."):
        return False
    if isinstance(call.func, ast.Attribute) and call.func.attr in ENCODING_AT:
        return call.func.attr == "read_text"
    method = isinstance(call.func, ast.Attribute) and path_of(call) is call.func.value
    modes = [*call.args[0 if method else 1 :][:1], *(each.value for each in call.keywords if each.arg == "mode")]
    return all(source.value(each) in _READ_MODES for each in modes) and not isinstance(source.parents.get(call), ast.Expr)


def block(call: ast.Call, source: Source) -> list[ast.stmt]:
    """List the statements that work with an opened file: of its `with`, else the one that opens it."""
    for outer in source.above(call):
        if isinstance(outer, ast.With | ast.AsyncWith):
            return outer.body
        if isinstance(outer, ast.stmt):
            return [outer]
    return []


def opens(call: ast.Call, source: Source) -> bool:
    """Say whether a call opens a file, for text or bytes."""
    named = isinstance(call.func, ast.Attribute) and call.func.attr in {*ENCODING_AT, "open"}
    return named or source.meaning(call.func) in {"open", "io.open", "codecs.open"}


def has_encoding(call: ast.Call) -> bool:
    """Say whether an encoding is given, or none is needed since bytes are read or written."""
    texts = [each.value for each in (*call.args, *(one.value for one in call.keywords)) if isinstance(each, ast.Constant)]
    binary = any(isinstance(each, str) and re.fullmatch(r"[rwax+]*b[rwax+]*", each) for each in texts)
    named = any(each.arg in {"encoding", None} for each in call.keywords)
    method = isinstance(call.func, ast.Attribute) and call.func.attr in ENCODING_AT
    return binary or named or (method and len(call.args) > ENCODING_AT[ast.unparse(call.func).rpartition(".")[2]])


def reads_back(call: ast.Call, function: Function, source: Source) -> bool:
    """Say whether a test reads what the tested code has written: a path that it gave to a call before, and did not open itself.

    UTF-8 here alone would then be wrong wherever the tested code writes in the locale's encoding.
    """
    if not reads(call, source):
        return False
    path = ast.unparse(path_of(call))
    before = [each for each in ast.walk(function) if isinstance(each, ast.Call) and each.lineno < call.lineno]
    return any(
        ast.unparse(argument) in {path, f"str({path})"}
        for each in before
        if not _HANDLING.fullmatch(source.meaning(each.func))
        for argument in (*each.args, *(one.value for one in each.keywords))
    )


def both_ways(call: ast.Call, function: Function, source: Source) -> bool:
    """Say whether a test writes a file and reads it again, both in the locale's encoding: there and back nothing is lost."""
    path = ast.unparse(path_of(call))
    others = [
        each
        for each in ast.walk(function)
        if isinstance(each, ast.Call) and opens(each, source) and each is not call and ast.unparse(path_of(each)) == path
    ]
    return any(reads(each, source) is not reads(call, source) and not has_encoding(each) for each in others)

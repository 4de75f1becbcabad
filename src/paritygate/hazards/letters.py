"""Which texts of a source are all ASCII, and which files: any encoding writes those the same."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator

from paritygate.hazards.clocks import assigned
from paritygate.hazards.files import Names
from paritygate.hazards.source import Function


def named_ascii(node: ast.expr, function: Function | None) -> bool:
    """Say whether a name stands for a text of ASCII and for nothing else."""
    values = assigned(node.id, function) if isinstance(node, ast.Name) and function is not None else []
    return bool(values) and all(is_ascii(each) for each in values)


def is_ascii(node: ast.AST) -> bool:
    """Say whether an expression is a text of ASCII that is written out, be it a repeated one or a sum of such."""
    if isinstance(node, ast.BinOp):
        sides = [is_ascii(node.left), is_ascii(node.right)]
        return all(sides) if isinstance(node.op, ast.Add) else isinstance(node.op, ast.Mult) and any(sides)
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isascii()


def texts_in(region: ast.AST, own: set[ast.AST], documented: str | None) -> Iterator[str]:
    """List the texts in a part of the code but for its docstring and the name of the file, which is no part of its text."""
    for each in ast.walk(region):
        text = each.value if isinstance(each, ast.Constant) else None
        if isinstance(text, str) and text != documented and (each not in own or text.isascii()):
            yield text


def names_other(text: str, names: Names) -> bool:
    """Say whether a text is the name of a tracked file that is not all ASCII; where several are called so, of all of them."""
    base = posixpath.basename(text)
    known = names.called(base) if "." in base else []
    return bool(known) and not any(names.ascii_of(path) for path in known)

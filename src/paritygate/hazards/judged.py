"""What ruff finds, judged: a rule of style goes further than a hazard, so what is harmless where it stands is left out."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator, Sequence

from paritygate.hazards import moments, ruff, surroundings
from paritygate.hazards.clocks import assigned
from paritygate.hazards.files import Names
from paritygate.hazards.found import Found, shown
from paritygate.hazards.ruff import Word
from paritygate.hazards.source import Role, Source
from paritygate.outcomes.hazards import HazardKind


def judged(words: Sequence[Word], source: Source, names: Names) -> Iterator[Found]:
    """Turn what ruff found into hazards."""
    for kind, call in ruff.translate(words, source):
        if kind is HazardKind.LOCALE_ENCODING:
            if _letters_matter(call, source, names):
                yield Found(kind, call, f"{shown(call)} leaves the encoding to the locale")
        elif not surroundings.harmless(call, source) and not _measures(call, source) and not _any_would_do(kind, call, source):
            yield Found(kind, call, f"{shown(call)} goes by the machine's zone")


def _any_would_do(kind: HazardKind, call: ast.Call, source: Source) -> bool:
    """Say whether a test takes the present moment for any."""
    now = kind is HazardKind.NAIVE_CLOCK and source.role is not Role.PACKAGE
    return now and moments.meaning_of(call, source) is moments.Meaning.ANY


def _measures(call: ast.Call, source: Source) -> bool:
    """Say whether a reading of the clock only measures how long something takes: it is subtracted from another, or the other."""
    outer = source.parents.get(call)
    if isinstance(outer, ast.BinOp) and isinstance(outer.op, ast.Sub):
        other = outer.right if outer.left is call else outer.left
        return isinstance(other, ast.Name | ast.Attribute)
    function = source.function_of(call)
    if not (isinstance(outer, ast.Assign) and isinstance(outer.targets[0], ast.Name) and function is not None):
        return False
    name = outer.targets[0].id
    uses = [
        each for each in ast.walk(function) if isinstance(each, ast.Name) and each.id == name and each.ctx.__class__ is ast.Load
    ]
    return bool(uses) and assigned(name, function) == [call] and all(_subtracted(each, source) for each in uses)


def _subtracted(node: ast.AST, source: Source) -> bool:
    outer = source.parents.get(node)
    if not (isinstance(outer, ast.BinOp) and isinstance(outer.op, ast.Sub)):
        return False
    other = outer.left if outer.right is node else outer.right
    return not (isinstance(other, ast.Call) and source.meaning(other.func) == "datetime.timedelta")


def _letters_matter(call: ast.Call, source: Source, names: Names) -> bool:
    """Say whether an encoding makes a difference: in a package always, in a test where something in sight is not ASCII."""
    target = source.value(call.args[0]) if call.args else None
    if isinstance(target, int) or (isinstance(target, str) and target.startswith("/dev/")):
        return False
    outer = source.parents.get(call)
    if isinstance(outer, ast.Attribute) and outer.attr == "close":
        return False
    if _only_json(call, source):
        return False
    if source.role is Role.PACKAGE:
        return True
    region = source.function_of(call) or source.tree
    own = set(ast.walk(call))
    texts = [
        each.value
        for each in ast.walk(region)
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and (each not in own or not _surrogate(each.value))
    ]
    documented = ast.get_docstring(region, clean=False)
    return any(not text.isascii() for text in texts if text != documented) or any(_names_other(text, names) for text in texts)


def _surrogate(text: str) -> bool:
    """Say whether a text holds bytes that are no letters, as a name on disk may."""
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def _only_json(call: ast.Call, source: Source) -> bool:
    """Say whether a file is opened to have JSON written into it, which is ASCII unless told otherwise."""
    block = next((outer for outer in source.above(call) if isinstance(outer, ast.With)), None)
    if block is None:
        return False
    text = "\n".join(ast.unparse(each) for each in block.body)
    return "json.dump(" in text and "ensure_ascii" not in text


def _names_other(text: str, names: Names) -> bool:
    """Say whether a text is the name of a tracked file that is not all ASCII."""
    base = posixpath.basename(text)
    return "." in base and any(not names.ascii_of(path) for path in names.called(base))

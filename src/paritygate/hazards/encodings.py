"""Where a missing `encoding` makes a difference: a locale spoils only letters that are not ASCII.

What is certainly ASCII is left out, and so is what nobody would put other letters into, such as a process id. In a package that
leaves files of text that people write; in a test, files that hold or get other letters as far as can be seen.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator

from paritygate.hazards import letters, opened
from paritygate.hazards.clocks import assigned
from paritygate.hazards.files import Names
from paritygate.hazards.found import Found, shown
from paritygate.hazards.source import Function, Role, Source
from paritygate.outcomes.hazards import HazardKind

_PLAIN = re.compile(r"pid|lock|key|cert|pem\b|devnull|/proc/|/dev/|pickle|digest|checksum|\bfd\b", re.IGNORECASE)
_TEXT = re.compile(
    r"yaml|toml|csv|configparser|config|template|html|markdown|readme|\btext|\.(md|rst|txt|log|ini|cfg)\b|message",
    re.IGNORECASE,
)
_FOR_PEOPLE = re.compile(
    r"(?i:yaml|toml|csv|configparser|read_file|template|html|markdown|readme|\.(md|rst|ini|cfg)\b)|(?<![a-z])(?i:config)|Config"
)
"""What people write, and not programs for themselves, as `sysconfig` and `pkgconfig` are."""
_OWN_LOG = re.compile(r"(\b|_)logs?(_?(file|path|name)(name)?)?\W*$", re.IGNORECASE)
"""What a program writes for itself, in the encoding in which it reads it."""
_BESIDE = re.compile(r"__file__|__\w*path__|resources|\bfiles\(")
_MADE = re.compile(r"tmp|temp|site_dir|output|out_dir|dest|build", re.IGNORECASE)
_WRITING = frozenset({"write", "writelines", "write_text"})


def paths(source: Source, names: Names) -> Iterator[Found]:
    """Find texts that tests read or write by a path: that `tmp_path / "a"` is one is nothing that ruff can know."""
    if source.role is Role.PACKAGE:
        return
    for call, _ in source.calls():
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in opened.ENCODING_AT or call.keywords:
            continue
        if len(call.args) == opened.ENCODING_AT[call.func.attr] and matters(call, source, names):
            yield Found(HazardKind.LOCALE_ENCODING, call, left_open(call), sure(call, source, names))


def left_open(call: ast.Call) -> str:
    """Say what is wrong with a call."""
    return f"{shown(call)} leaves the encoding to the locale"


def matters(call: ast.Call, source: Source, names: Names) -> bool:
    """Say whether the encoding of the text file that a call opens makes a difference."""
    path = opened.path_of(call)
    target = source.value(path)
    if (
        isinstance(target, int)
        or _PLAIN.search(f"{ast.unparse(path)}{target}")
        or _only_closed(call, source)
        or _compared_with_ascii(call, source)
        or _own_ascii_file(path, source, names)
    ):
        return False
    block = opened.block(call, source)
    if all(isinstance(each, ast.Pass) for each in block):
        return False
    text = "\n".join(ast.unparse(each) for each in block)
    if _escapes(text) or _PLAIN.search(text) or _only_ascii_written(call, block, source):
        return False
    if source.role is Role.PACKAGE:
        return _TEXT.search(f"{text}\n{ast.unparse(call)}\n{_where(call, source)}") is not None
    return _other_letters(call, source, names)


def sure(call: ast.Call, source: Source, names: Names) -> bool:
    """Say whether the source alone shows that other letters get there, of a call whose encoding `matters`.

    In a test they are what is written, what is expected of what is read, or in the tracked file that is read; a package reads
    what people write from a place that it is given, rather than a file of its own, or one of its own that has such letters.
    What a package writes may be all ASCII for all that can be seen.
    """
    function = source.function_of(call)
    made = _made_of(opened.path_of(call), source)
    found = "__file__" in ast.unparse(made) or (
        source.role is not Role.PACKAGE and not _MADE.search(ast.unparse(function or call))
    )
    if found and any(letters.names_other(text, names) for text in letters.texts_in(made, set(), None)):
        return source.role is Role.PACKAGE or function is None or not opened.reads_back(call, function, source)
    if function is None:
        return False
    if source.role is not Role.PACKAGE:
        given = function.name.startswith("test") and _meets_other_letters(call, function, source)
        return given and not opened.reads_back(call, function, source) and not opened.both_ways(call, function, source)
    path = opened.path_of(call)
    named = path.attr if isinstance(path, ast.Attribute) else ast.unparse(path)  # whose attribute it is says nothing of the text
    opening = ast.unparse(call).replace(ast.unparse(path), named)
    text = "\n".join((*(ast.unparse(each).replace(ast.unparse(call), opening) for each in opened.block(call, source)), opening))
    if "json.load" in text or _OWN_LOG.search(named) or not _FOR_PEOPLE.search(f"{text}\n{function.name}"):
        return False
    return opened.reads(call, source) and not _own_place(opened.path_of(call), function, source)


def _meets_other_letters(call: ast.Call, function: Function, source: Source) -> bool:
    """Say whether a test writes other letters by a call, or expects them where it reads."""
    given: list[ast.expr] = []
    for statement in (*opened.block(call, source), call):
        for each in ast.walk(statement):
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _WRITING:
                given += each.args
    outer = source.parents.get(call)
    if isinstance(outer, ast.Compare):
        given += [outer.left, *outer.comparators]
    names = [each.id for one in given for each in ast.walk(one) if isinstance(each, ast.Name)]
    given += [value for name in names for value in assigned(name, function)]
    return any(not text.isascii() for one in given for text in letters.texts_in(one, set(ast.walk(opened.path_of(call))), None))


def _own_place(path: ast.expr, function: Function, source: Source) -> bool:
    """Say whether a path is beside the code or written out from the root, by itself or by the names that it is made of."""
    known = {each.id for each in ast.walk(path) if isinstance(each, ast.Name)}
    assigns = [each for each in (*source.tree.body, *ast.walk(function)) if isinstance(each, ast.Assign)]
    made = [each.value for each in assigns if not known.isdisjoint(ast.unparse(target) for target in each.targets)]
    parts = [each for place in (path, *made) for each in ast.walk(place)]
    rooted = any(isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value.startswith("/") for each in parts)
    return rooted or any(_BESIDE.search(ast.unparse(each)) for each in (path, *made))


def _escapes(text: str) -> bool:
    """Say whether code writes JSON or YAML in ASCII, as their libraries do unless they are told otherwise."""
    json = "json.dump(" in text and "ensure_ascii" not in text
    return json or (re.search(r"yaml[._](safe_)?dump\(", text) is not None and "allow_unicode" not in text)


def _made_of(path: ast.expr, source: Source) -> ast.expr:
    """Say what the module gives the name of a path, else the path itself."""
    made = [
        each.value
        for each in source.tree.body
        if isinstance(each, ast.Assign) and isinstance(path, ast.Name) and ast.unparse(each.targets[0]) == path.id
    ]
    return made[0] if len(made) == 1 else path


def _own_ascii_file(path: ast.expr, source: Source, names: Names) -> bool:
    """Say whether a path is that of a file that lies beside the code, by its written-out name, and is all ASCII."""
    whole = _made_of(path, source)
    if "__file__" not in ast.unparse(whole):
        return False
    known = [
        each for text in letters.texts_in(whole, set(), None) if "." in text for each in names.called(posixpath.basename(text))
    ]
    return bool(known) and all(names.ascii_of(each) for each in known)


def _only_closed(call: ast.Call, source: Source) -> bool:
    outer = source.parents.get(call)
    return isinstance(outer, ast.Attribute) and outer.attr == "close"


def _where(call: ast.Call, source: Source) -> str:
    """Say what the places are called that a call is in: module, classes, function."""
    outer = [each.name for each in source.above(call) if isinstance(each, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)]
    return "\n".join((posixpath.basename(source.path), *outer))


def _only_ascii_written(call: ast.Call, block: list[ast.stmt], source: Source) -> bool:
    """Say whether all that is written is written out, there or under a name of the function, and ASCII."""
    function = source.function_of(call)
    written = [
        argument
        for statement in (*block, call)
        for each in ast.walk(statement)
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _WRITING
        for argument in each.args
    ]
    return bool(written) and all(letters.is_ascii(each) or letters.named_ascii(each, function) for each in written)


def _other_letters(call: ast.Call, source: Source, names: Names) -> bool:
    """Say whether a test has other letters in sight, or reads a tracked file that has."""
    own = set(ast.walk(opened.path_of(call)))
    function = source.function_of(call)
    if function is None:
        return any(not text.isascii() for text in letters.texts_in(call, own, None))
    if any(not text.isascii() for text in letters.texts_in(function, own, ast.get_docstring(function, clean=False))):
        return True
    named = [text for each in (opened.path_of(call), *function.decorator_list) for text in letters.texts_in(each, set(), None)]
    return not _MADE.search(ast.unparse(function)) and any(letters.names_other(text, names) for text in named)


def _compared_with_ascii(call: ast.Call, source: Source) -> bool:
    """Say whether what is read is expected to be something that is all ASCII."""
    outer = source.parents.get(call)
    if not isinstance(outer, ast.Compare):
        return False
    others = [each for each in (outer.left, *outer.comparators) if each is not call]
    return all(letters.is_ascii(each) for each in others)

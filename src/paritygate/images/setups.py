"""What `setup.cfg` and `setup.py` say, read as text: code is never run here.

Where `setup.py` computes what it says, `static` is false and the installer has to ask it inside a container.
"""

from __future__ import annotations

import ast
import configparser
from pathlib import Path

import msgspec

_UNKNOWN = object()


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """The metadata of a setuptools project."""

    present: bool = False
    static: bool = True
    name: str = ""
    dependencies: tuple[str, ...] = ()
    extras: dict[str, tuple[str, ...]] = {}
    requires_python: str = ""
    setup_requires: tuple[str, ...] = ()
    tests_require: tuple[str, ...] = ()


def read(directory: Path) -> Setup:
    """Read both files; what `setup.py` gives as a literal wins over `setup.cfg`, as it does for setuptools."""
    return _without_markers(_read(directory))


def _read(directory: Path) -> Setup:
    from_cfg = _read_cfg(directory)
    script = directory / "setup.py"
    if not script.is_file():
        return from_cfg
    given = setup_arguments(script.read_text(encoding="utf-8", errors="replace"))
    if given is None:
        return msgspec.structs.replace(from_cfg, present=True, static=False)
    known = {key: value for key, value in given.items() if value is not _UNKNOWN}
    needed = ("install_requires", "extras_require", "setup_requires")
    extras = {**from_cfg.extras, **_extras(known.get("extras_require"))}
    return Setup(
        present=True,
        static=all(given.get(key) is not _UNKNOWN for key in needed) and ("pbr" not in given),
        name=str(known.get("name", from_cfg.name)),
        dependencies=_lines(known["install_requires"]) if "install_requires" in known else from_cfg.dependencies,
        extras=extras,
        requires_python=str(known.get("python_requires", from_cfg.requires_python)),
        setup_requires=_lines(known.get("setup_requires")) or from_cfg.setup_requires,
        tests_require=_lines(known.get("tests_require")) or from_cfg.tests_require,
    )


def setup_arguments(source: str) -> dict[str, object] | None:
    """Give the keyword arguments of the one `setup(...)` call; None where that cannot be told from the text.

    A value that is not a literal, or rests on a name that is assigned twice or changed in place, is `_UNKNOWN`.
    """
    try:
        module = ast.parse(source)
    except SyntaxError:
        return None
    calls = [node for node in ast.walk(module) if isinstance(node, ast.Call) and _called(node.func) == "setup"]
    if len(calls) != 1 or calls[0].args or any(keyword.arg is None for keyword in calls[0].keywords):
        return None
    constants = _constants(module)
    return {keyword.arg: _value(keyword.value, constants) for keyword in calls[0].keywords if keyword.arg}


def dynamic_requirements(directory: Path, entry: object) -> tuple[str, ...] | None:
    """Read setuptools' `{file = [...]}`; None where the entry is something else or a file is missing."""
    if not isinstance(entry, dict):
        return None
    files = entry.get("file")
    names = [files] if isinstance(files, str) else files
    if not isinstance(names, list):
        return None
    result: list[str] = []
    for name in names:
        path = directory / str(name)
        if not path.is_file():
            return None
        result.extend(_lines(path.read_text(encoding="utf-8", errors="replace")))
    return tuple(result)


def _read_cfg(directory: Path) -> Setup:
    path = directory / "setup.cfg"
    parser = configparser.RawConfigParser()
    if not path.is_file():
        return Setup()
    try:
        parser.read_string(path.read_text(encoding="utf-8", errors="replace"))
    except configparser.Error:
        return Setup()
    metadata, options = _section(parser, "metadata"), _section(parser, "options")
    return Setup(
        present=bool(metadata.get("name")),
        name=metadata.get("name", ""),
        static=not any(value.startswith("file:") for value in options.values()) and "pbr" not in _section(parser, "files"),
        dependencies=_lines(options.get("install_requires", "")),
        extras={key: _lines(value) for key, value in _section(parser, "options.extras_require").items()},
        requires_python=options.get("python_requires", ""),
        setup_requires=_lines(options.get("setup_requires", "")),
        tests_require=_lines(options.get("tests_require", "")),
    )


def _section(parser: configparser.RawConfigParser, name: str) -> dict[str, str]:
    return {key.replace("-", "_"): value.strip() for key, value in parser[name].items()} if parser.has_section(name) else {}


def _lines(value: object) -> tuple[str, ...]:
    """Take requirement lines out of a text or a list, without comments."""
    items = value.splitlines() if isinstance(value, str) else value
    if not isinstance(items, list | tuple):
        return ()
    stripped = (str(item).split(" #")[0].strip() for item in items)
    return tuple(line for line in stripped if line and not line.startswith(("#", "-")))


def _extras(value: object) -> dict[str, tuple[str, ...]]:
    """Read `extras_require`, whose keys may carry a marker (`:python_version < "3.8"`)."""
    return {str(key): _lines(lines) for key, lines in value.items()} if isinstance(value, dict) else {}


def _without_markers(setup: Setup) -> Setup:
    """Give the lines of keys like `test:python_version < "3.8"` that marker, and to the extra before the colon, if any."""
    dependencies, extras = setup.dependencies, dict[str, tuple[str, ...]]()
    for key, lines in setup.extras.items():
        name, _, marker = (part.strip() for part in key.partition(":"))
        marked = tuple(f"{line} ; {marker}" if marker else line for line in lines)
        if name:
            extras[name] = extras.get(name, ()) + marked
        else:
            dependencies += marked
    return msgspec.structs.replace(setup, dependencies=dependencies, extras=extras)


def _called(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _constants(module: ast.Module) -> dict[str, ast.expr]:
    """Find the names that are assigned once, at the top, and never changed in place."""
    assigned: dict[str, int] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            assigned[node.id] = assigned.get(node.id, 0) + 1
        elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.value, ast.Name):
            assigned[node.value.id] = assigned.get(node.value.id, 0) + 2
    found: dict[str, ast.expr] = {}
    for statement in module.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            if assigned.get(name) == 1:
                found[name] = statement.value
    return found


def _value(node: ast.expr, constants: dict[str, ast.expr]) -> object:
    """Work out a literal, names and sums of lists included."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        pass
    match node:
        case ast.Name(id=name) if name in constants:
            return _value(constants[name], {key: value for key, value in constants.items() if key != name})
        case ast.List(elts=items) | ast.Tuple(elts=items):
            values = [_value(item, constants) for item in items]
            return _UNKNOWN if _UNKNOWN in values else values
        case ast.Dict(keys=keys, values=items) if None not in keys:
            names = [_value(key, constants) for key in keys if key is not None]
            values = [_value(item, constants) for item in items]
            return (
                _UNKNOWN if _UNKNOWN in [*names, *values] else {str(key): value for key, value in zip(names, values, strict=True)}
            )
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, second = _value(left, constants), _value(right, constants)
            return [*first, *second] if isinstance(first, list) and isinstance(second, list) else _UNKNOWN
        case _:
            return _UNKNOWN

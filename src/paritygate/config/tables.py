"""Parsed TOML tables into structs, following the structs themselves, with every fault found on the way.

There is no second schema: what a key may hold is read off the struct's annotations, for checking and for describing alike.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Annotated, TypeVar, get_args, get_origin

import msgspec
from msgspec import inspect

from paritygate.axes import near_miss

Problems = list[str]
Filled = TypeVar("Filled", bound=msgspec.Struct)

_WIDTH = 60


def read_table(table: object, default: Filled, path: str, problems: Problems) -> Filled:
    """Fill a struct from a table; keys that are not given keep the default's value, and so do wrong ones, each a problem."""
    if not isinstance(table, Mapping):
        problems.append(f"`{path or 'tool.paritygate'}`: expected a table, got {show(table)}")
        return default
    kinds = {field.encode_name: field for field in msgspec.structs.fields(default)}
    given: dict[str, object] = {}
    for key, value in table.items():
        place = join(path, key)
        if key not in kinds:
            problems.append(f"`{place}`: there is no such key{_elsewhere(key, type(default))}")
        elif (read := _read(value, kinds[key].type, getattr(default, kinds[key].name), place, problems)) is not None:
            given[kinds[key].name] = read
    return msgspec.structs.replace(default, **given)


def fields(struct: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    """List a struct's fields with what msgspec knows of their types."""
    found = inspect.type_info(struct)
    return found.fields if isinstance(found, inspect.StructType) else ()


def join(path: str, key: str) -> str:
    """Say where a key is; one that TOML would want quoted is quoted."""
    plain = key.replace("-", "").replace("_", "").isalnum() and key.isascii()
    key = key if plain else f'"{key}"'
    return f"{path}.{key}" if path else key


def show(value: object) -> str:
    """Say a value as TOML would, not too long of it."""
    match value:
        case bool():
            text = str(value).lower()
        case str():
            text = f'"{value}"'
        case Mapping():
            return "a table"
        case list():
            return "an array" if value else "an empty array"
        case dt.date() | dt.time():
            text = value.isoformat()
        case _:
            text = str(value)
    return f"`{text[:_WIDTH]}...`" if len(text) > _WIDTH else f"`{text}`"


def _read(value: object, kind: object, default: object, path: str, problems: Problems) -> object:
    """Read one value; None when it is wrong, which is then among the problems."""
    match bare(inspect.type_info(kind)):
        case inspect.StructType() if isinstance(default, msgspec.Struct):
            return read_table(value, default, path, problems)
        case inspect.DictType(value_type=inspect.StructType(cls=struct)):
            return _read_named(value, struct(), default, path, problems)
        case inspect.DictType() if isinstance(value, Mapping):
            pairs = [(key, _read(each, _item(kind), "", join(path, key), problems)) for key, each in value.items()]
            return {key: each for key, each in pairs if each is not None}
        case inspect.VarTupleType() if isinstance(value, list):
            items = [_read(each, _item(kind), "", f"{path}[{index}]", problems) for index, each in enumerate(value)]
            return tuple(each for each in items if each is not None)
        case _:
            return _read_leaf(value, kind, path, problems)


def _read_named(value: object, blank: msgspec.Struct, default: object, path: str, problems: Problems) -> object:
    """Read tables under names of the user's own.

    One named like a default keeps what it does not give. Where there are none but these, the defaults not named stay.
    """
    if not isinstance(value, Mapping) or not isinstance(default, Mapping):
        problems.append(f"`{path}`: expected tables such as `[{path}.NAME]`, got {show(value)}")
        return None
    named = {name: read_table(table, default.get(name, blank), join(path, name), problems) for name, table in value.items()}
    if named and set(named) <= set(default):
        return {**default, **named}
    return named


def _read_leaf(value: object, kind: object, path: str, problems: Problems) -> object:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        info = inspect.type_info(kind)
        guess = near_miss(value, frozenset(_words(info))) if isinstance(value, str) else ""
        problems.append(f"`{path}`: expected {describe(info)}, got {show(value)}{guess}")
        return None


def _item(kind: object) -> object:
    """Say of which type the items of an array or the values of a table are."""
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    return next(each for each in reversed(get_args(kind)) if each is not Ellipsis)


def bare(kind: inspect.Type) -> inspect.Type:
    """Take the description off a type."""
    return bare(kind.type) if isinstance(kind, inspect.Metadata) else kind


def _words(kind: inspect.Type) -> Iterator[str]:
    """Yield the words that a closed type knows."""
    match bare(kind):
        case inspect.UnionType(types=kinds):
            for each in kinds:
                yield from _words(each)
        case inspect.LiteralType(values=values):
            yield from (str(value) for value in values)
        case inspect.EnumType(cls=words):
            yield from (str(word.value) for word in words)
        case _:
            return


def describe(kind: inspect.Type) -> str:
    """Say what a value must be, in words."""
    match bare(kind):
        case inspect.UnionType(types=kinds):
            return " or ".join(describe(each) for each in kinds)
        case inspect.VarTupleType(item_type=item):
            return f"an array of {_many(item)}"
        case inspect.DictType(value_type=item):
            return f"a table of {_many(item)}"
        case inspect.LiteralType() | inspect.EnumType():
            return " or ".join(f'`"{word}"`' for word in _words(kind))
        case inspect.IntType() | inspect.FloatType() as number:
            what = "a whole number" if isinstance(number, inspect.IntType) else "a number"
            return f"{what}{_bounds(number)}"
        case other:
            return {inspect.BoolType: "`true` or `false`", inspect.StructType: "a table"}.get(type(other), "text")


def _many(item: inspect.Type) -> str:
    """Say of what items there are several."""
    one = describe(item)
    return "tables" if one == "a table" else one.removeprefix("a ").replace("number", "numbers").replace("text", "texts")


def _bounds(kind: inspect.IntType | inspect.FloatType) -> str:
    if kind.gt is not None:
        return f" greater than {kind.gt:g}"
    if kind.ge is not None and kind.le is not None:
        return f" from {kind.ge} to {kind.le}"
    return "" if kind.ge is None else f" from {kind.ge:g} up"


def _elsewhere(key: str, struct: type[msgspec.Struct]) -> str:
    """Guess which key was meant: one of this table, or one of a table inside it."""
    known = {field.encode_name: bare(field.type) for field in fields(struct)}
    if guess := near_miss(key, frozenset(known)):
        return guess
    for name, kind in known.items():
        match kind:
            case inspect.StructType(cls=inner) if key in {field.encode_name for field in fields(inner)}:
                return f"; it belongs to `{name}`"
            case inspect.DictType(value_type=inspect.StructType(cls=inner)) if key in {
                each.encode_name for each in fields(inner)
            }:
                return f"; it belongs to `{name}.NAME`"
            case _:
                continue
    return f"; there are {', '.join(f'`{name}`' for name in sorted(known))}"

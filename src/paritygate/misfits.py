"""Says in our words why a file is not the JSON that it should be: what is wrong, and at which place.

It knows no schema; msgspec does, whose words are for programmers.
"""

from __future__ import annotations

import re

import msgspec

from paritygate import strict_json

_KINDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "`true` or `false`",
    "object": "an object, `{...}`",
    "array": "an array, `[...]`",
    "null": "`null`",
}
_PLACE = re.compile(r" - at `(?:key in )?\$\.?(?P<place>.*)`$")
_MISSING = re.compile(r"Object missing required field `(?P<name>.*)`")
_KIND = re.compile(r"Expected `(?P<wanted>[^`]*)`, got `(?P<found>[^`]*)`")
_WORD = re.compile(r"Invalid enum value (?P<found>.*)")


def why(content: bytes, error: msgspec.DecodeError) -> str:
    """Say what is wrong with a content of which msgspec says `error`."""
    if isinstance(error, msgspec.ValidationError):
        return _misfit(str(error))
    if not content.strip():
        return "it is empty"
    try:
        strict_json.read_map(content)
    except ValueError as found:
        return str(found)
    return "it is not JSON as programs write it, which begins with `{`"


def _misfit(said: str) -> str:
    place = found["place"] if (found := _PLACE.search(said)) else ""
    what = _PLACE.sub("", said)
    where = f"at `{place}`: " if place else ""
    if found := _MISSING.fullmatch(what):
        return f"{where}`{found['name']}` is missing"
    if found := _KIND.fullmatch(what):
        return f"{where}expected {_kinds(found['wanted'])}, got {_kinds(found['found'])}"
    if found := _WORD.fullmatch(what):
        return f"{where}`{found['found'].strip(chr(39))}` is none of the words that can stand there"
    return f"{where}{what[:1].lower()}{what[1:]}"


def _kinds(named: str) -> str:
    return " or ".join(_KINDS.get(each, f"`{each}`") for each in named.split(" | "))

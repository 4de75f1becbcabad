"""Poetry's own way of writing requirements, turned into the standard one.

It knows no lock file; `locks` does.
"""

from __future__ import annotations

import re
from typing import Any

from packaging.utils import canonicalize_name


def specifier(written: str) -> str:
    """Turn `^1.2`, `~1.2`, `1.2.*` or a comma-separated list into a PEP 440 specifier; alternatives (`||`) give an empty one."""
    if "|" in written:
        return ""
    parts = [part for part in re.split(r"[,\s]+(?=[\^~<>=!*0-9])", written.strip()) if part]
    return ",".join(filter(None, (_one(part.replace(" ", "")) for part in parts)))


def requirements(section: dict[str, Any]) -> tuple[str, ...]:
    """Turn a table of dependencies into requirement lines, without optional ones and without directories."""
    return tuple(line for name, entry in section.items() if name != "python" for line in requirement(name, entry))


def requirement(name: str, entry: object, *, optional: bool = False) -> tuple[str, ...]:
    """Turn one dependency into requirement lines; several where it has one for each environment."""
    if isinstance(entry, list):
        return tuple(line for part in entry for line in requirement(name, part, optional=optional))
    if isinstance(entry, str):
        return (f"{name}{specifier(entry)}",)
    if not isinstance(entry, dict) or "path" in entry or (entry.get("optional") and not optional):
        return ()
    extras = entry.get("extras")
    title = f"{name}[{','.join(map(str, extras))}]" if isinstance(extras, list) and extras else name
    markers = _markers(entry)
    if "git" in entry or "url" in entry:
        return (f"{title} @ {_address(entry)}" + (f" ; {markers}" if markers else ""),)
    return (f"{title}{specifier(str(entry.get('version', '*')))}" + (f" ; {markers}" if markers else ""),)


def local_sources(section: dict[str, Any]) -> dict[str, str]:
    """Find the dependencies that are directories: name to path as written."""
    tables = [section.get("dependencies", {}), section.get("dev-dependencies", {})]
    tables += [group.get("dependencies", {}) for group in section.get("group", {}).values()]
    return {
        canonicalize_name(name): entry["path"]
        for each in tables
        for name, entry in each.items()
        if isinstance(entry, dict) and isinstance(entry.get("path"), str)
    }


def _one(part: str) -> str:
    if part in {"", "*"}:
        return ""
    if part[0] in "<>=!" or part.startswith("~="):
        return part
    if part[0] not in "^~":
        return f"=={part}"
    numbers = [int(number) for number in re.findall(r"\d+", re.split(r"[a-z+-]", part[1:])[0])]
    if not numbers:
        return ""
    return f">={part[1:]},<{'.'.join(map(str, _upper(numbers, caret=part[0] == '^')))}"


def _upper(numbers: list[int], *, caret: bool) -> list[int]:
    """Find the first version that is too new: a caret lets everything after the first number that is not zero grow."""
    if caret:
        place = next((index for index, number in enumerate(numbers) if number), len(numbers) - 1)
    else:
        place = min(1, len(numbers) - 1)
    return [*numbers[:place], numbers[place] + 1]


def _markers(entry: dict[str, Any]) -> str:
    parts = [f"({entry['markers']})"] if entry.get("markers") else []
    for part in specifier(str(entry.get("python", ""))).split(","):
        if found := re.match(r"([<>=!~]+)(.+)", part):
            variable = "python_full_version" if found.group(2).count(".") > 1 else "python_version"
            parts.append(f'{variable} {found.group(1)} "{found.group(2)}"')
    if platform := entry.get("platform"):
        parts.append(f'sys_platform == "{platform}"')
    return " and ".join(parts)


def _address(entry: dict[str, Any]) -> str:
    if "url" in entry:
        return str(entry["url"])
    reference = entry.get("rev") or entry.get("ref") or entry.get("tag") or entry.get("branch")
    directory = f"#subdirectory={entry['subdirectory']}" if "subdirectory" in entry else ""
    address = str(entry["git"])
    if re.match(r"[\w.-]+@[\w.-]+:", address):
        address = "ssh://" + address.replace(":", "/", 1)
    return f"git+{address}{f'@{reference}' if reference else ''}{directory}"

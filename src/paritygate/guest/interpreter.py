"""Say what an interpreter has, before any cell runs on it: its version, where it finds modules, what locales and zones are there.

It changes nothing, judges nothing, and imports nothing of paritygate. `interpreter.py LOCALE... -- ZONE...` writes a JSON object
to stdout.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import locale
import os
import re
import site
import sys
from typing import Any, Dict, Iterable, List
from urllib.parse import unquote, urlsplit

ZONES = "/usr/share/zoneinfo"


def folder_of(url: str) -> str:
    """Say which folder of this computer an address names, empty for any other."""
    parts = urlsplit(url)
    return unquote(parts.path) if parts.scheme == "file" else ""


def editable() -> Dict[str, str]:
    """List the distributions that are installed as they lie in a folder, with that folder."""
    found: Dict[str, str] = {}
    for distribution in importlib.metadata.distributions():
        try:
            origin = json.loads(distribution.read_text("direct_url.json") or "{}")
        except ValueError:
            continue
        if origin.get("dir_info", {}).get("editable"):
            found[distribution.metadata["Name"] or ""] = folder_of(str(origin.get("url", "")))
    return found


def entry_points(names: Iterable[str]) -> Dict[str, str]:
    """Say what these distributions offer, commands and plugins, as they write it; names as PEP 503 writes them."""
    found = {name: importlib.metadata.distribution(name).read_text("entry_points.txt") for name in names if name}
    return {re.sub(r"[-_.]+", "-", name).lower(): text for name, text in found.items() if text}


def distributions() -> Dict[str, str]:
    """List what is installed, names as PEP 503 writes them; of two with one name the one that Python would import."""
    found: Dict[str, str] = {}
    for distribution in importlib.metadata.distributions():
        name = distribution.metadata["Name"]
        if name:
            found.setdefault(re.sub(r"[-_.]+", "-", name).lower(), distribution.version)
    return found


def mapped() -> List[str]:
    """List the folders in which finders of editable distributions look, as far as they say so."""
    found: List[str] = []
    for name, module in list(sys.modules.items()):
        mapping = getattr(module, "MAPPING", None)
        if name.startswith("__editable__") and isinstance(mapping, dict):
            found += [os.path.dirname(str(path)) for path in mapping.values()]
    return found


def has_locale(name: str) -> bool:
    """Say whether a locale can be used here."""
    try:
        locale.setlocale(locale.LC_ALL, name)
    except locale.Error:
        return False
    return True


def measure(locales: List[str], zones: List[str]) -> Dict[str, Any]:
    """Say all that there is to say."""
    in_folders = editable()
    return {
        "version": sys.version.split()[0],
        "executable": sys.executable,
        "prefixes": sorted({os.path.realpath(path) for path in (sys.prefix, sys.base_prefix)}),
        "user_base": (site.USER_BASE or "") if site.ENABLE_USER_SITE else "",
        "installed": sorted(name for name in ("pytest", "xdist") if importlib.util.find_spec(name) is not None),
        "search_path": [path for path in sys.path if os.path.isdir(path)],
        "mapped": mapped(),
        "editable": in_folders,
        "entry_points": entry_points(in_folders),
        "distributions": distributions(),
        "locales": [name for name in locales if has_locale(name)],
        "zones": [name for name in zones if os.path.isfile(os.path.join(ZONES, name))],
    }


if __name__ == "__main__":
    del sys.path[0]  # this file's own folder, which no test will search
    asked = [*sys.argv[1:], "--"]
    end = asked.index("--")
    json.dump(measure(asked[:end], [name for name in asked[end:] if name != "--"]), sys.stdout)

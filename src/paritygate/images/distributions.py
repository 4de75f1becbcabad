"""This computer's own distribution: where its packages come from, so that a base can be made of them.

Suite and mirror are read from apt's sources; none is named here.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

APT = Path("/etc/apt")
OS_RELEASE = Path("/etc/os-release")


class Distribution(msgspec.Struct, frozen=True, kw_only=True):
    """A Debian or Ubuntu release and the one-line sources of its packages."""

    name: str
    suite: str
    sources: tuple[str, ...]


def this_distribution(apt: Path = APT, os_release: Path = OS_RELEASE) -> Distribution | None:
    """Say which distribution this is; None where it is not one of Debian's family or its sources cannot be told."""
    facts = (
        dict(re.findall(r'(?m)^([A-Z_]+)="?([^"\n]*)"?$', os_release.read_text(encoding="utf-8"))) if os_release.is_file() else {}
    )
    family = {facts.get("ID", ""), *facts.get("ID_LIKE", "").split()}
    suite = facts.get("UBUNTU_CODENAME") or facts.get("VERSION_CODENAME", "")
    if not family & {"debian", "ubuntu"} or not suite:
        return None
    lines = tuple(dict.fromkeys(line for path in _lists(apt) for line in _sources(path, suite)))
    if not any(f" {suite} " in f"{line} " for line in lines):
        return None
    return Distribution(name=facts.get("ID", "debian"), suite=suite, sources=lines)


def _lists(apt: Path) -> list[Path]:
    folder = apt / "sources.list.d"
    return [
        path
        for path in (apt / "sources.list", *sorted(folder.glob("*.list")), *sorted(folder.glob("*.sources")))
        if path.is_file()
    ]


def _sources(path: Path, suite: str) -> list[str]:
    text = path.read_text(encoding="utf-8", errors="replace")
    lines = _from_stanzas(text) if path.suffix == ".sources" else [line.strip() for line in text.splitlines()]
    return [line for line in lines if (found := _SOURCE.match(line)) and _is_own(found.group("suite"), suite)]


_SOURCE = re.compile(r"deb\s+(?:\[[^\]]*\]\s+)?(?P<uri>(?:https?|file|copy):\S+)\s+(?P<suite>\S+)\s+\S")


def _is_own(found: str, suite: str) -> bool:
    """Whether a source is of the release itself: `-backports` and foreign repositories are not."""
    return found in {suite, f"{suite}-updates", f"{suite}-security"}


def _from_stanzas(text: str) -> list[str]:
    """Turn deb822 stanzas into one-line sources."""
    lines: list[str] = []
    for stanza in re.split(r"\n\s*\n", text):
        body = "\n".join(line for line in stanza.splitlines() if not line.startswith("#"))
        fields = {
            name.lower(): " ".join(value.split()) for name, value in re.findall(r"(?m)^([\w-]+):((?:.*\n?(?:[ \t].*\n?)*))", body)
        }
        if fields.get("enabled", "yes") == "no" or "deb" not in fields.get("types", "").split():
            continue
        key = fields.get("signed-by", "")
        option = f"[signed-by={key}] " if key.startswith("/") else ""
        lines += [
            f"deb {option}{uri} {suite} {fields.get('components', '')}".strip()
            for uri in fields.get("uris", "").split()
            for suite in fields.get("suites", "").split()
        ]
    return lines

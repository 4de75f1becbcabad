"""How images are named: by project, by kind and by the content they are made from, so that equal content is made once."""

from __future__ import annotations

import hashlib
import re
from enum import StrEnum

PROJECT_LABEL = "paritygate.project"
SOURCE_LABEL = "paritygate.source"
TREE_LABEL = "paritygate.tree"
VERSION = "1"
"""Part of every digest: to be raised where a change of our own makes older images wrong."""


class Kind(StrEnum):
    """What an image is; children after their parents."""

    BASE = "base"
    SYSTEM = "system"
    CASEFS = "casefs"
    CLOCK = "clock"
    DEPENDENCIES = "deps"
    ENVIRONMENT = "env"
    TREE = "tree"


def tag(kind: Kind, owner: str, digest: str) -> str:
    """Name an image; `owner` is a project or an environment, empty for what all share."""
    return f"paritygate/{slug(owner)}-{kind}:{digest}" if owner else f"paritygate/{kind}:{digest}"


def slug(text: str) -> str:
    """Make a text fit for a part of an image's name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60] or "project"


def digest(*parts: str | bytes) -> str:
    """Make a digest of parts, none of which can run into the next."""
    found = hashlib.sha256(VERSION.encode())
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        found.update(f"{len(data)}:".encode() + data)
    return found.hexdigest()[:20]


def digest_files(files: dict[str, bytes]) -> str:
    """Make a digest of files by name and content."""
    return digest(*(part for name in sorted(files) for part in (name, files[name])))

"""By which rule git ignores a path."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from paritygate.errors import SnapshotError
from paritygate.snapshot import git

FIELDS = 4


def rules_of(top: str, environ: Mapping[str, str], paths: Sequence[str]) -> dict[str, str]:
    """Say for each ignored path, relative to the tree's top, where the rule is, as `.gitignore:3`; without git nothing."""
    asked = git.find(top, environ)
    if asked is None or not paths:
        return {}
    given = b"".join(os.fsencode(path) + b"\0" for path in paths)
    try:
        answer = git.attempt(asked, "check-ignore", "--verbose", "-z", "--stdin", stdin=given).stdout
    except SnapshotError:  # what is known without the rule is enough
        return {}
    fields = os.fsdecode(answer).split("\0")
    rows = zip(*(fields[number::FIELDS] for number in range(FIELDS)), strict=False)
    return {path: f"{source}:{line}" for source, line, _, path in rows if source}

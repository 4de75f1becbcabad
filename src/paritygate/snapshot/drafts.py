"""What a tree shall hold before any content has been read, and the decisions that both states share."""

from __future__ import annotations

import msgspec

from paritygate.snapshot import index, rules
from paritygate.snapshot.survey import Repository, Survey


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """An entry without its digest; `source`, `target` and `kind` as in `outcomes.trees.Entry`.

    `guarded` content is looked at for keys: nobody else has it yet. A `tracked` file may be a git-lfs pointer.
    """

    path: str
    kind: str
    mode: int
    source: str = ""
    target: str = ""
    guarded: bool = False
    tracked: bool = False


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """All drafts of one state, what is not among them, and what its paths are to git."""

    drafts: list[Draft] = msgspec.field(default_factory=list)
    withheld: set[str] = msgspec.field(default_factory=set)
    left_out: dict[str, str] = msgspec.field(default_factory=dict)
    status: dict[str, str] = msgspec.field(default_factory=dict)


def head_object(place: Repository, path: str) -> str:
    """Say which object HEAD has at a path of a repository; empty where it has none."""
    change = place.index.changes.get(path)
    if change is not None:
        return change.head
    entry = place.index.tracked.get(path)
    return entry.oid if entry is not None and place.index.commit else ""


def reference(place: Repository, oid: str) -> str:
    """Name content that lies in git; a submodule's with the place of its repository."""
    return f"git:{oid}@{place.prefix}" if place.prefix else f"git:{oid}"


def secret(survey: Survey, path: str) -> bool:
    """Say whether a path is one of those that must be named to be sent."""
    return rules.secret(path) and not rules.named(path, survey.directory, survey.include)


def guarded(survey: Survey, place: Repository | None, path: str) -> bool:
    """Say whether content that lies on disk must be looked at for keys: HEAD has no such path, and nobody named it."""
    full = f"{place.prefix}{path}" if place else path
    known = place is not None and full not in survey.renamed and head_object(place, path)
    return not known and not rules.named(full, survey.directory, survey.include)


def withhold(survey: Survey, place: Repository, path: str, made: Plan) -> bool:
    """Keep back a tracked path that looks like a secret, as far as not every clone has it anyway.

    What HEAD has is no secret beyond the repository, and suites need their test certificates: it is sent, HEAD's content in
    the place of local changes. What was added since, or is changed here, is kept back.
    """
    if not secret(survey, f"{place.prefix}{path}"):
        return False
    head = head_object(place, path)
    entry = place.index.tracked[path]
    if head and not entry.hidden and path not in place.index.changes:
        return False
    full = f"{place.prefix}{path}"
    made.withheld.add(full)
    if head and entry.mode not in {index.LINK, index.SUBMODULE}:
        made.drafts.append(Draft(path=full, kind="file", mode=permissions(place, path), source=reference(place, head)))
    return True


def permissions(place: Repository, path: str) -> int:
    """Say a tracked file's permission bits: git's, since not every disk has them."""
    change = place.index.changes.get(path)
    entry = place.index.tracked[path]
    mode = change.mode if change is not None and change.mode else entry.mode
    return 0o755 if mode == index.EXECUTABLE else 0o644

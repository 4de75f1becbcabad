"""The state `dirty`: the working tree as it lies."""

from __future__ import annotations

from paritygate.snapshot import drafts
from paritygate.snapshot.disk import Item
from paritygate.snapshot.drafts import Draft, Plan
from paritygate.snapshot.survey import Repository, Survey


def plan(survey: Survey) -> Plan:
    """Plan a tree of everything on disk but caches, environments and secrets."""
    made = Plan(left_out=dict(survey.disk.left_out))
    owners = {f"{place.prefix}{path}": place for place in survey.repositories for path in place.index.tracked}
    spelled = frozenset(survey.renamed.values())
    untracked = {f"{place.prefix}{path}" for place in survey.repositories for path in place.index.untracked}
    for path, item in survey.disk.items.items():
        if item.kind == "directory":
            made.drafts.append(Draft(path=path, kind="directory", mode=0o755))
        elif path in owners:
            _add_tracked(survey, owners[path], path, made)
        else:
            if path in spelled:
                made.status[path] = "renamed"
            elif survey.repositories:
                made.status[path] = "untracked" if _listed(path, untracked) else "ignored"
            _add_other(survey, path, item, made)
    return made


def _add_tracked(survey: Survey, place: Repository, path: str, made: Plan) -> None:
    inner = path.removeprefix(place.prefix)
    if inner in place.index.changes:
        made.status[path] = "modified"
    if drafts.withhold(survey, place, inner, made):
        return
    item = survey.disk.items[path]
    if item.kind == "link":
        made.drafts.append(_link(path, item))
        return
    mode, guarded = drafts.permissions(place, inner), drafts.guarded(survey, place, inner)
    made.drafts.append(Draft(path=path, kind="file", mode=mode, source=f"{survey.top}/{path}", guarded=guarded, tracked=True))


def _add_other(survey: Survey, path: str, item: Item, made: Plan) -> None:
    if drafts.secret(survey, path):
        made.withheld.add(path)
    elif item.kind == "link":
        made.drafts.append(_link(path, item))
    else:
        mode, guarded = 0o755 if item.executable else 0o644, drafts.guarded(survey, None, path)
        made.drafts.append(Draft(path=path, kind="file", mode=mode, source=f"{survey.top}/{path}", guarded=guarded))


def _link(path: str, item: Item) -> Draft:
    return Draft(path=path, kind="link", mode=0o777, target=item.target)


def _listed(path: str, untracked: set[str]) -> bool:
    """Say whether git lists a path, or a repository that holds it, as untracked; what it does not list is ignored."""
    if path in untracked:
        return True
    above = path.rpartition("/")[0]
    while above:
        if f"{above}/" in untracked:
            return True
        above = above.rpartition("/")[0]
    return False

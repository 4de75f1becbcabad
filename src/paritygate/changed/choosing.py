"""Narrows what was asked for to the tests that can see what a patch touches: other test files are left out, by `--ignore`.

So whatever collects tests in a way that is not known here still runs, and nothing runs that would not have run anyway.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

import msgspec

from paritygate.changed import mapping, ours, reading, touched
from paritygate.changed.facts import Facts
from paritygate.changed.mapping import Seen, Surroundings
from paritygate.changed.project import Conventions
from paritygate.changed.reading import Wanted
from paritygate.changed.touched import Diff
from paritygate.errors import NoVerdictError
from paritygate.outcomes.artifact import Changed, TouchedFile
from paritygate.outcomes.plans import Selection
from paritygate.reports import touched as report


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """The narrowed selection, and how it came about."""

    selection: Selection
    changed: Changed


def choose(wanted: Wanted) -> Chosen:
    """Choose the tests that can see what was touched; raises `NoVerdictError` where there are none, `UsageError` without git."""
    some = wanted.trees[0]
    diff = touched.since(some.root, wanted.base, wanted.environ)
    paths = tuple(path for path in diff.paths if not any(path == own or path.startswith(f"{own}/") for own in wanted.own))
    if not paths:
        raise NoVerdictError(
            f"nothing differs from commit `{diff.base[:12]}`, so no test is chosen",
            "run without `--changed`, or name a base",
        )
    known = reading.conventions(wanted)
    around = reading.surroundings(wanted, paths, known, ours.reports(some.root, diff.untracked.intersection(paths)))
    answers = {path: _seen(path, around, wanted.asked) for path in paths}
    changed = _changed(diff, answers, _asked_for(wanted, around, known))
    out = frozenset() if changed.everything else around.graph.tests.difference(*(each.tests for each in answers.values()))
    narrowed = _without(wanted.asked, out)
    others = bool(known.others) or any(_collects(each) for each in around.graph.files.values())
    if not changed.tests and not changed.everything and not (others and bool(narrowed.paths) == bool(wanted.asked.paths)):
        listed = "\n".join(report.chosen(changed))
        raise NoVerdictError(f"no test that was asked for can see the patch: {listed}", "run without `--changed`")
    return Chosen(selection=narrowed, changed=changed)


def _seen(path: str, around: Surroundings, asked: Selection) -> Seen:
    if "--pyargs" in asked.arguments:
        return Seen(everything=True, why="`--pyargs` asks for modules, which are not followed")
    return mapping.seen(path, around)


def _collects(each: Facts) -> bool:
    """Say whether a file decides for itself what holds tests: such files are not known here, and are never left out."""
    return not each.defined.isdisjoint({"pytest_collect_file", "pytest_collect_directory", "pytest_pycollect_makemodule"})


def _changed(diff: Diff, answers: Mapping[str, Seen], asked_for: Collection[str]) -> Changed:
    everything = any(each.everything for each in answers.values())
    chosen = asked_for if everything else {test for each in answers.values() for test in each.tests if test in asked_for}
    return Changed(
        base=diff.base,
        files={_printable(path): _touched(each, asked_for) for path, each in answers.items()},
        tests=tuple(sorted(map(_printable, chosen))),
        known=len(asked_for),
        everything=everything,
    )


def _touched(each: Seen, asked_for: Collection[str]) -> TouchedFile:
    tests = tuple(sorted(_printable(test) for test in each.tests if test in asked_for))
    if each.everything:
        return TouchedFile(everything=True, why=each.why)
    if tests:
        return TouchedFile(tests=tests)
    return TouchedFile(why="only tests see it that were not asked for" if each.tests else each.why)


def _without(asked: Selection, out: Collection[str]) -> Selection:
    """Leave out test files; one that was named itself is not asked for any more, as pytest would not ignore it."""
    inside = f"{asked.directory}/" if asked.directory else ""
    names = [test.removeprefix(inside) for test in sorted(out) if test.startswith(inside) and _printable(test) == test]
    kept = tuple(word for word in asked.paths if reading.from_top(asked, word.partition("::")[0]) not in out)
    return msgspec.structs.replace(asked, paths=kept, arguments=(*asked.arguments, *(f"--ignore={name}" for name in names)))


def _asked_for(wanted: Wanted, around: Surroundings, known: Conventions) -> frozenset[str]:
    """List the test files that would run without `--changed`."""
    asked = wanted.asked
    places = {reading.from_top(asked, word.partition("::")[0]) for word in asked.paths or known.places}
    odd = any("*" in place or any(place == link or place.startswith(f"{link}/") for link in around.links) for place in places)
    if not places or odd:
        places = {asked.directory}
    return frozenset(
        test
        for test in around.graph.tests & around.files
        if any(test == place or (_below(test, place) and known.is_entered(_rest(test, place))) for place in places)
    )


def _below(path: str, folder: str) -> bool:
    return not folder or path.startswith(f"{folder}/")


def _rest(path: str, folder: str) -> str:
    return path.removeprefix(f"{folder}/") if folder else path


def _printable(path: str) -> str:
    """Show a name that is not UTF-8 as text that JSON can hold."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")

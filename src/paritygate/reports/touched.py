"""How a diff chose the tests: each touched file with the tests that can see it, or why everything is chosen, or none."""

from __future__ import annotations

from collections.abc import Iterator

from paritygate.outcomes.artifact import Changed, TouchedFile
from paritygate.reports.text import listed, spell_out

MOST_FILES = 20


def chosen(changed: Changed | None, most: int = MOST_FILES) -> Iterator[str]:
    """List the touched files, up to a number (0: all), with what each of them chose."""
    if changed is None:
        return
    chose = f"{len(changed.tests)} of {changed.known} test files {'is' if len(changed.tests) == 1 else 'are'} chosen"
    what = "everything is chosen" if changed.everything else chose
    yield f"changed since {changed.base[:12]} ({len(changed.files)}), and {what}:"
    # What widened everything comes first: it is what there is to understand.
    files = sorted(changed.files.items(), key=lambda item: (not item[1].everything, item[0]))
    for path, each in files[: most or None]:
        yield f"  {spell_out(path)}: {_said(each)}"
    if most and len(files) > most:
        yield f"  and {len(files) - most} more in the report"


def _said(each: TouchedFile) -> str:
    if each.everything:
        return f"everything, since {spell_out(each.why)}"
    return listed(each.tests) if each.tests else f"no test: {spell_out(each.why)}"

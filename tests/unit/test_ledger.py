"""The ledger's format, and what makes an entry one that nobody can rely upon."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paritygate import strict_json
from paritygate.freezes import checking, ledger, owners
from paritygate.freezes.checking import Facts

ENTRY: dict[str, Any] = {"owner": "@me", "expires": "2026-12-31", "evidence": "parity_report.json", "reason": "later"}
TODAY = date(2026, 12, 1)
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
SOME_TEXT = ANY_TEXT.filter(str.strip)
IDS = st.builds("{}::{}".format, st.sampled_from(["tests/test_a.py", "test_ü.py", "a b/c.py", "-x.py"]), SOME_TEXT)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)
ENTRIES = st.fixed_dictionaries(
    {"owner": SOME_TEXT, "expires": st.dates().map(date.isoformat), "evidence": SOME_TEXT, "reason": SOME_TEXT},
    optional={"issue": JSON, "cells": JSON, "cause": JSON, "fingerprint": st.lists(ANY_TEXT, max_size=3)},
)


def a_ledger(**changes: Any) -> ledger.Ledger:
    return ledger.read(json.dumps({"tests/test_a.py::test_a": {**ENTRY, **changes}}).encode())


def facts(**changes: Any) -> Facts:
    return Facts(**{"today": TODAY, "longest": 90, "owners": None, "exists": lambda _path: True, **changes})


@settings(deadline=None)
@given(st.dictionaries(IDS, ENTRIES, max_size=4))
def test_a_ledger_reads_as_it_was_written_with_all_that_others_put_into_it(fields: dict[str, dict[str, Any]]) -> None:
    written = strict_json.write_map(fields)
    found = ledger.read(written)
    assert found.faults == ()
    assert {nodeid: entry.fields for nodeid, entry in found.entries.items()} == fields
    assert ledger.write(found.entries) == written


@settings(deadline=None)
@given(st.binary())
def test_no_bytes_at_all_raise_anything(content: bytes) -> None:
    found = ledger.read(content)
    assert found.faults or not found.entries


@settings(deadline=None)
@given(st.dictionaries(ANY_TEXT, JSON, max_size=4))
def test_no_json_at_all_is_taken_for_an_entry_that_it_is_not(fields: dict[str, Any]) -> None:
    found = ledger.read(json.dumps(fields).encode())
    assert {nodeid for nodeid, _ in found.faults} | found.entries.keys() == fields.keys()


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "line 1, column 1: it is not JSON: expecting value"),
        (b"[]", "expected an object"),
        (b"\xff", "line 1: it is not UTF-8"),
        (b'{"a": 1, "a": 2}', "`a` is there twice"),
        (b'{"a": NaN}', "`NaN` is no JSON"),
        (b'{"\\ud800": 1}', "half a surrogate pair"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b"{\n<<<<<<< HEAD\n}", "marks of a merge"),
        (b'{"a": ' + b"9" * 5000 + b"}", "Exceeds the limit"),
    ],
)
def test_a_ledger_that_cannot_be_read_says_why(content: bytes, fault: str) -> None:
    (found,) = ledger.read(content).faults
    assert found[0] == ""
    assert fault in found[1]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"expires": "2026-02-30"}, "`expires` is `2026-02-30`; write the last day as YYYY-MM-DD"),
        ({"expires": "20261231"}, "write the last day as YYYY-MM-DD"),
        ({"expires": "2026-12-31T00:00:00Z"}, "write the last day as YYYY-MM-DD"),
        ({"expires": "2026-W53-4"}, "write the last day as YYYY-MM-DD"),
        ({"expires": None}, "`expires` is `null`"),
        ({"expires": 20261231}, "write the last day as YYYY-MM-DD"),
        ({"owner": " "}, "`owner` is empty; say who answers for it"),
        ({"reason": ""}, "`reason` is empty"),
        ({"evidence": {}}, "`evidence` is `{}`; name the report"),
        ({"label": "coupling"}, "only `nondeterminism` may be frozen"),
        ({"label": "nondeterminism-everywhere"}, "only `nondeterminism` may be frozen"),
        ({"fingerprint": {"a": 1}}, '`fingerprint` is `{"a": 1}`; write text, or an array of texts'),
        ({"cells": {"local-like": {"passed": 2}}}, "nothing there disagrees with itself"),
        ({"cells": {"a": ["failed", "failed"], "b": ["failed"]}}, "nothing there disagrees with itself"),
        ({"extended": 3}, "write an array of objects with `on`, `before` and `after`"),
    ],
)
def test_a_field_that_means_nothing_is_named_with_its_test(changes: dict[str, Any], fault: str) -> None:
    found = a_ledger(**changes)
    assert not found.entries
    ((nodeid, said),) = found.faults
    assert nodeid == "tests/test_a.py::test_a"
    assert fault in said


@pytest.mark.parametrize(("written", "ways"), [("f1", ("f1",)), (["f1", "f2"], ("f1", "f2")), ([""], ()), ("", ()), ([], ())])
def test_a_fingerprint_that_says_nothing_is_none(written: object, ways: tuple[str, ...]) -> None:
    (entry,) = a_ledger(fingerprint=written).entries.values()
    assert entry.fingerprint == ways


def test_all_that_is_missing_is_named_at_once() -> None:
    assert ledger.read(b'{"t.py::t": {"owner": "me"}}').faults == (("t.py::t", "`expires`, `evidence`, `reason` are missing"),)


@pytest.mark.parametrize(
    ("today", "expired"), [(date(2026, 12, 30), False), (date(2026, 12, 31), False), (date(2027, 1, 1), True)]
)
def test_the_last_day_is_included(today: date, *, expired: bool) -> None:
    entry = a_ledger().entries["tests/test_a.py::test_a"]
    assert checking.is_expired(entry, today) is expired
    found = checking.problems(a_ledger(), facts(today=today))
    assert bool(found) is expired
    if expired:
        assert found == ("`tests/test_a.py::test_a`: the freeze expired on 2026-12-31, 1 day ago; `@me` owns it",)


@settings(deadline=None)
@given(st.datetimes(timezones=st.integers(-14, 14).map(lambda hours: timezone(timedelta(hours=hours)))))
def test_the_day_is_the_one_in_utc_at_any_hour_and_in_any_zone(moment: datetime) -> None:
    try:
        expected = moment.astimezone(UTC).date()
    except OverflowError:
        return
    assert checking.today_of(moment) == expected


@pytest.mark.parametrize(
    ("changes", "against", "problem"),
    [
        ({"expires": "2027-03-02"}, {}, "until 2027-03-02, 91 days from today; 90 are the most"),
        ({"since": "2027-01-01"}, {}, "ends on 2026-12-31, before it begins, on 2027-01-01"),
        ({}, {"owners": frozenset({"you"})}, "its owner `@me` is not in CODEOWNERS"),
        ({}, {"exists": lambda _path: False}, "there is no file `tests/test_a.py`; the test was moved, renamed or deleted"),
    ],
)
def test_what_cannot_be_relied_upon_is_named(changes: dict[str, Any], against: dict[str, Any], problem: str) -> None:
    (found,) = checking.problems(a_ledger(**changes), facts(**against))
    assert found.startswith("`tests/test_a.py::test_a`: ")
    assert problem in found


def test_an_entry_as_people_know_it_will_do() -> None:
    assert checking.problems(a_ledger(), facts(owners=frozenset({"me"}))) == ()
    assert checking.problems(a_ledger(expires="2027-03-01"), facts()) == ()
    assert checking.problems(a_ledger(since="2026-12-31"), facts()) == ()  # frozen on its last day


def test_an_entry_that_is_over_has_that_one_problem_whenever_it_began() -> None:
    over = a_ledger(expires="2026-11-01", since="2026-11-20")
    (problem,) = checking.problems(over, facts())
    assert "the freeze expired on 2026-11-01" in problem


CODEOWNERS = """\
# The owners
*             @Global  second@example.org # @not-me
docs/a\\ b/    @docs/Team
/nobody

[Section]
^[Optional][2] @in-section @@role
*.py
"""


def test_everybody_in_codeowners_is_known_as_github_and_gitlab_write_it() -> None:
    assert owners.named(CODEOWNERS) == {"global", "second@example.org", "docs/team", "in-section", "role"}
    assert owners.plain(" @Docs/Team ") == "docs/team"


@pytest.mark.parametrize(
    "nodeid",
    ["tests/test_a.py", "../b/test_a.py::t", "/test_a.py::t", "tests//test_a.py::t", "./test_a.py::t", "::t", "test_a.py::", " "],
)
def test_what_names_no_test_of_the_tree_is_no_id(nodeid: str) -> None:
    entry = {"owner": "@me", "expires": "2026-12-31", "evidence": "r.json", "reason": "later"}
    ((named, said),) = ledger.read(json.dumps({nodeid: entry}).encode()).faults
    assert (named, said) == (nodeid, "its name is not the id of a test, such as `tests/test_a.py::test_b`")


@pytest.mark.parametrize("cells", [{"a": ["passed", "failed"]}, {"a": {"passed": 1}, "b": {"failed": 1}}, {"a": ["once"]}, {}, 3])
def test_cells_that_disagree_or_say_something_else_are_let_be(cells: Any) -> None:
    assert a_ledger(cells=cells).entries

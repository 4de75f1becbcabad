"""The helpers for tests that hold elsewhere: orders, clocks, values behind texts."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paritygate.portable.clocks import Clock, FixedClock, SystemClock
from paritygate.portable.orders import assert_commute, orders
from paritygate.portable.parsed import address, assert_same, differences, moment

NEW_YEAR = datetime(2026, 12, 31, 23, 30, tzinfo=UTC)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.lists(st.integers(), max_size=8), st.lists(st.integers(0, 99), max_size=6))
def test_every_order_holds_the_same_items_and_none_comes_twice(items: list[int], seeds: list[int]) -> None:
    found = list(orders(range(len(items)), seeds))
    assert found[0] == tuple(range(len(items)))
    assert all(sorted(order) == list(range(len(items))) for order in found)
    assert len(set(found)) == len(found)
    assert list(orders(items, seeds)) == [tuple(items[place] for place in order) for order in found]


def test_the_shuffles_of_a_seed_are_the_same_everywhere_and_for_ever() -> None:
    assert list(orders("abcde", seeds=range(2))) == [
        ("a", "b", "c", "d", "e"),
        ("e", "d", "c", "b", "a"),
        ("b", "a", "e", "d", "c"),
        ("b", "c", "a", "d", "e"),
    ]


def test_of_few_items_every_order_comes() -> None:
    assert len(list(orders("abc", seeds=()))) == 6


def test_a_suite_that_takes_warnings_for_errors_can_be_parametrized_with_orders(tmp_path: Path) -> None:
    example = """\
import pytest

from paritygate.portable.orders import orders


@pytest.mark.parametrize("order", orders("abc"))
def test_order(order):
    assert sorted(order) == ["a", "b", "c"]


@pytest.mark.parametrize("order", orders("abcd", seeds=range(1)))
def test_of_four(order):
    assert sorted(order) == ["a", "b", "c", "d"]
"""
    (tmp_path / "test_orders.py").write_text(example, encoding="utf-8")
    alone = ("-q", "-W", "error", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", str(tmp_path))
    done = subprocess.run([sys.executable, "-m", "pytest", *alone, str(tmp_path)], capture_output=True, text=True, check=False)
    assert (done.returncode, "9 passed" in done.stdout) == (0, True), done.stdout + done.stderr


def test_operations_that_commute_pass_and_others_are_named_with_their_order() -> None:
    def double(account: list[int]) -> None:
        account[0] *= 2

    def deposit(account: list[int]) -> None:
        account[0] += 5

    assert_commute([deposit, deposit], lambda: [1], lambda account: account[0])
    with pytest.raises(AssertionError, match=r"as given 12, but 7 in the order double \(#1\), deposit \(#0\)"):
        assert_commute([deposit, double], lambda: [1], lambda account: account[0])


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_operations_have_nothing_to_commute_with(count: int) -> None:
    with pytest.raises(ValueError, match=f"{count} operations have one order only"):
        assert_commute([list.clear] * count, list, len)


@pytest.mark.parametrize("begin", ["2026", date(2026, 12, 31)])
def test_a_clock_begins_at_a_moment_and_at_nothing_else(begin: Any) -> None:
    with pytest.raises(TypeError, match=f"which is `{type(begin).__name__}`"):
        FixedClock(begin)


def test_time_that_would_pass_backwards_is_said_in_seconds() -> None:
    with pytest.raises(ValueError, match=r"not even -1\.5 s"):
        FixedClock(NEW_YEAR).sleep(-1.5)


def test_a_fixed_clock_stands_until_it_is_told_otherwise() -> None:
    clock: Clock = FixedClock(NEW_YEAR)
    assert clock.now() == clock.now() == NEW_YEAR
    clock.sleep(3600)
    assert clock.now() == NEW_YEAR + timedelta(hours=1)
    assert clock.monotonic() == 3600.0


def test_a_day_depends_on_the_place_alone() -> None:
    clock = FixedClock(NEW_YEAR)
    assert clock.today(UTC) == date(2026, 12, 31)
    assert clock.today(ZoneInfo("Asia/Shanghai")) == date(2027, 1, 1)


def test_a_clock_that_is_put_back_lets_no_time_pass() -> None:
    clock = FixedClock(NEW_YEAR)
    clock.set(NEW_YEAR - timedelta(days=1))
    assert (clock.now(), clock.monotonic()) == (NEW_YEAR - timedelta(days=1), 0.0)
    with pytest.raises(ValueError, match="use `set`"):
        clock.advance(timedelta(seconds=-1))


@pytest.mark.parametrize("put", [FixedClock, FixedClock(NEW_YEAR).set])
def test_a_moment_without_a_zone_is_none(put: Any) -> None:
    with pytest.raises(ValueError, match="another moment on another machine"):
        put(NEW_YEAR.replace(tzinfo=None))


def test_the_system_clock_is_a_clock_too() -> None:
    clock: Clock = SystemClock()
    clock.sleep(0)
    assert clock.now().utcoffset() == timedelta()
    assert isinstance(clock.today(UTC), date)
    assert isinstance(clock.monotonic(), float)


@given(VALUES)
def test_json_says_the_same_however_it_is_written(value: Any) -> None:
    assert_same(json.dumps(value, indent=2, ensure_ascii=False), json.dumps(value, separators=(",", ":"), sort_keys=True), "json")


@given(VALUES, VALUES)
def test_what_differs_is_said_with_its_place_and_never_breaks(one: Any, other: Any) -> None:
    assert not list(differences(one, one))
    assert bool(list(differences(one, other))) == bool(list(differences(other, one)))


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("toml", "a = 1\nb = 2\n", "b = 2\r\na = 1"),
        ("csv", "a,b\r\n1,2\r\n", 'a,"b"\n1,2\n'),
        ("xml", '<a x="1" y="2"><b/></a>', "<a y='2' x='1'>\n  <b></b>\n</a>"),
        ("moment", "2026-11-30T01:00:00+01:00", "2026-11-30T00:00:00Z"),
        ("number", "0.30000000000000004", "3e-1"),
        ("url", "https://Example.org?a=1&b=2", "https://example.org/?b=2&a=1"),
        ("url", "https://example.org:443/a", "https://example.org/a"),
        ("url", "http://example.org:80", "http://example.org/"),
        ("json", "[1.0, 1e400]", "[1, Infinity]"),
        ("json", f"[{10**400}]", f"[{10**400}]"),
        (str.casefold, "ONE", "one"),
    ],
)
def test_two_ways_to_write_one_thing_are_the_same(kind: Any, one: str, other: str) -> None:
    assert_same(one, other, kind)
    assert_same(other, one, kind)


@pytest.mark.parametrize(
    ("kind", "one", "other", "place"),
    [
        ("json", '{"a": {"b": [1, 2]}}', '{"a": {"b": [1, 3]}}', r"a\.b\[1\]: 2, 3 is expected"),
        ("json", '{"a": 1}', '{"b": 1}', "b: it is missing"),
        ("json", '{"a": 1}', '{"a": true}', "a: 1, True is expected"),
        ("json", "[1]", "[1, 2]", "it has 1 items, 2 are expected"),
        ("json", f"[{10**400}]", "[0.5]", r"\[0\]"),
        ("csv", "a\nb", "b\na", r"\[0\]\[0\]: 'a'"),
        ("xml", "<a>1</a>", "<a>2</a>", "text: '1'"),
        ("moment", "2026-11-30T00:00:00+01:00", "2026-11-30T00:00:00Z", "the value"),
        ("url", "http://example.org:443/", "http://example.org/", "host"),
        ("url", "/?a=1&a=2", "/?a=2&a=1", r"query\.a\[0\]"),
    ],
)
def test_what_is_not_the_same_is_named_by_its_place(kind: str, one: str, other: str, place: str) -> None:
    with pytest.raises(AssertionError, match=place):
        assert_same(one, other, kind)


def test_a_kind_that_nobody_knows_is_answered_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"no parser `zzz`; there are `json`, `toml`, `csv`, `xml`, `moment`, `number`, `url`"):
        assert_same("1", "1", "zzz")


@pytest.mark.parametrize(
    ("kind", "good", "bad", "where"),
    [
        ("json", "[1]", "[1\n,]", r"line 2 column 2"),
        ("json", "{}", '{"a": 1, "b": {"c": 1, "c": 2}}', "`c` stands twice in one object"),
        ("toml", "a = 1", "a = 1\nb", r"line 2, column 2|at end of document"),
        ("xml", "<a/>", "<a>\n<b></a>", r"line 2, column 5"),
        ("number", "1", "one", r"'one'"),
        ("moment", "2026-11-30T00:00:00Z", "2026-11-30T00:00:00", r"names no zone"),
        (int, "1", "one", r"'one'"),
    ],
)
def test_a_text_that_cannot_be_read_is_said_to_be_the_first_or_the_second_and_where(
    kind: Any, good: str, bad: str, where: str
) -> None:
    name = kind if isinstance(kind, str) else kind.__name__
    with pytest.raises(ValueError, match=rf"^the first text cannot be read as `{name}`: .*({where})"):
        assert_same(bad, good, kind)
    with pytest.raises(ValueError, match=rf"^the second text cannot be read as `{name}`: .*({where})"):
        assert_same(good, bad, kind)


def test_a_moment_needs_a_zone() -> None:
    with pytest.raises(ValueError, match="names no zone"):
        moment("2026-11-30T00:00:00")


def test_a_url_keeps_what_is_empty() -> None:
    assert address("/?a=") != address("/")


def test_the_examples_of_the_documents_pass(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "portable-tests.md").read_text(encoding="utf-8")
    blocks = [block.partition("```")[0] for block in page.split("```python\n")[1:]]
    examples = [block for block in blocks if "paritygate.portable" in block]
    modules = {module for module in ("orders", "clocks", "parsed") if any(f"portable.{module}" in each for each in examples)}
    assert modules == {"orders", "clocks", "parsed"}
    for number, example in enumerate(examples):
        (tmp_path / f"test_example_{number}.py").write_text(example, encoding="utf-8")
    alone = ("-q", "-W", "error", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", str(tmp_path))
    done = subprocess.run([sys.executable, "-m", "pytest", *alone, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout

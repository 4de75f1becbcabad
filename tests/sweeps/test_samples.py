"""The sample for sweeps has something for every witness value, so that a new one is noticed that nothing shows the use of."""

from __future__ import annotations

import tomllib

import pytest

from paritygate.config.settings import EnvironmentSettings
from paritygate.outcomes.words import Axis
from paritygate.witnesses.sampling import SAMPLED
from paritygate.witnesses.table import WITNESSES
from paritygate.witnesses.values import written
from tests.support.builders import an_environment
from tests.support.sweeping import SWEPT, rules


def values_of(axis: Axis) -> list[str]:
    """Write the values of the table out for the zone that the sample has."""
    home = tomllib.loads((SWEPT / "paritygate.toml").read_text(encoding="utf-8"))["environments"]["home"]
    base = an_environment("home", timezone=home.get("timezone", EnvironmentSettings().timezone))
    return [written(axis, base, each.value) for each in WITNESSES[axis]]


@pytest.mark.parametrize("axis", WITNESSES)
def test_no_value_finds_all_that_another_does_but_for_those_that_say_why(axis: Axis) -> None:
    known, tests = values_of(axis), [set(values) for values in rules().axes[axis].values()]
    assert set().union(*tests) <= set(known)
    if axis in SAMPLED:
        return
    found = {value: {number for number, test in enumerate(tests) if value in test} for value in known}
    needless = {one for one in known if any(found[one] <= found[other] for other in known if other != one)}
    assert needless == set(rules().ordinary.get(axis, {}))


def test_every_test_that_is_named_is_there_and_every_axis_has_a_control() -> None:
    there = {f"{path.relative_to(SWEPT)}": path.read_text(encoding="utf-8") for path in SWEPT.glob("tests/test_*.py")}
    named = [test for axis in rules().axes.values() for test in axis]
    assert [
        test for test in named if f"def {test.partition('::')[2].partition('[')[0]}(" not in there[test.partition("::")[0]]
    ] == []
    assert [path for path in {test.partition("::")[0] for test in named} if "def test_control(" not in there[path]] == []
    assert set(rules().words) <= set(named)

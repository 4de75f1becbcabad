"""The cells of a sweep: each value once, those that part once more, and an end as soon as there is nothing to learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import msgspec
import pytest

from paritygate.classifier import labels, surroundings
from paritygate.classifier.verdicts import Facts, verdict
from paritygate.confirm.flow import confirm
from paritygate.errors import UsageError
from paritygate.gate.cells import Cells
from paritygate.gate.grounds.parts import Machine
from paritygate.gate.request import World
from paritygate.gate.sweeping import rounds, values
from paritygate.gate.sweeping.conclusion import unconfirmed
from paritygate.gate.sweeping.rounds import INTERRUPTED, NO_TIME, Ran
from paritygate.gate.sweeping.values import Breadth
from paritygate.outcomes.artifact import Finding, Verdict
from paritygate.outcomes.cells import Cell, ClockFacts, Dates
from paritygate.outcomes.plans import CellPlan, Environment
from paritygate.outcomes.sweeps import Sweep
from paritygate.outcomes.words import Axis, CellStatus, ExitCode, Label, Outcome
from paritygate.process import Interruption
from paritygate.runners.pool import alone
from paritygate.runners.protocol import Watch
from paritygate.sweeps import conclusions
from paritygate.sweeps.conclusions import PARTED_ALL
from paritygate.sweeps.wording import bound
from tests.support.builders import a_cell, a_probe, a_record, an_environment, gate_plans

HOME = an_environment("home")
SMALL = 256 << 20
ONE_REASON = "`America/New_York`, `Asia/Kolkata`: no such zone"
TWO_REASONS = f"`America/New_York`: {NO_TIME}; not `Asia/Kolkata`: no such zone"
HOURS = {"UTC": 0.0, "America/New_York": -5.0, "America/Los_Angeles": -8.0, "Asia/Kolkata": 5.5, "Asia/Shanghai": 8.0}
Acts = Callable[[str, Environment, int], str]
"""What a test does: its name, where, and in which attempt."""


class Acting:
    """A runner whose cells do what they are told, and that keeps the plans."""

    def __init__(self, acts: Mapping[str, Callable[[Environment, int], str]], broken: Mapping[str, str] | None = None) -> None:
        self.acts = acts
        self.broken = broken or {}
        self.ran: list[str] = []

    def run(self, plan: CellPlan, watch: Watch) -> Cell:
        """Act a cell; nobody watches."""
        del watch
        self.ran.append(plan.name)
        where = plan.environment
        seconds = int(HOURS.get(where.timezone, 0.0) * 3600)
        day = where.clock[:10] or "2026-01-01"
        cell = a_cell(
            where.name,
            plan.attempt,
            {name: act(where, plan.attempt) for name, act in self.acts.items()},
            purpose=plan.purpose,
            probe=a_probe(
                timezone=where.timezone,
                utcoffset_now=seconds,
                utcoffset_january=seconds,
                utcoffset_july=seconds,
                memory=where.memory,
                local_date=day,
                utc_date=day,
                clock=ClockFacts(moved=float(bool(where.clock)), files=plan.clock_files),
            ),
            workers=where.workers,
            dates=(Dates(day, day),),
        )
        if where.timezone in self.broken:
            return msgspec.structs.replace(
                cell, status=CellStatus.ENVIRONMENT_MISMATCH, tests=(), detail=self.broken[where.timezone]
            )
        return cell

    def stop(self) -> None:
        """Have nothing to stop."""


def a_world() -> World:
    def unwanted(*_arguments: object) -> None:
        raise AssertionError

    return World(
        connect=unwanted,  # type: ignore[arg-type]  # nothing here may look for an engine
        variables={},
        version="0",
        now=lambda: datetime(2026, 1, 1, tzinfo=UTC),
        monotonic=lambda: 0.0,
        sleep=unwanted,
        say=lambda _line: None,
        watch=lambda _progress: None,
    )


MACHINE = Machine(name="m", version="1", platform="linux/x", cpus=2, memory=8 << 30)


def asked(axis: Axis, *named: str) -> Breadth:
    return values.spread(HOME, {axis: values.chosen(axis, named)}, MACHINE)


class Told(msgspec.Struct, frozen=True):
    """What a sweep came to."""

    ran: Ran
    findings: tuple[Finding, ...]
    sweeps: tuple[Sweep, ...]

    def rule(self, nodeid: str) -> str:
        return next(rule.text for sweep in self.sweeps for rule in sweep.rules if rule.nodeid == nodeid)


def swept(spread: Breadth, runner: Acting, over: Callable[[], bool] = rounds.never) -> Told:
    """Sweep as the flow does, from the first cell to the rules."""
    plans = gate_plans(*spread.environments)
    cells = Cells(alone(runner, 2), {}, a_world())
    ran = rounds.run(spread, plans, cells, a_world(), over)
    confirmed = confirm(labels.label(ran.cells), ran.cells, plans, cells.confirm)
    found = [conclusions.conclude(rounds.described(each, ran), confirmed.findings, ran.cells) for each in spread.axes]
    return Told(ran, conclusions.with_causes(confirmed.findings, found), tuple(found))


def west(where: Environment, _attempt: int) -> str:
    return "failed" if HOURS[where.timezone] < 0 else "passed"


def always(_where: Environment, _attempt: int) -> str:
    return "passed"


def test_a_test_that_parts_is_run_again_where_it_parts_confirmed_and_told_by_the_smallest_rule() -> None:
    runner = Acting({"always": always, "west": west})
    told = swept(asked(Axis.TIMEZONE, *HOURS), runner)
    names = [f"timezone-{zone.replace('/', '-')}" for zone in HOURS]
    assert sorted(runner.ran[:5]) == sorted(f"{name}-1" for name in names)
    assert sorted(runner.ran[5:7]) == ["timezone-America-Los_Angeles-2", "timezone-America-New_York-2"]
    assert len(runner.ran[7:]) == 10
    assert told.rule("west") == "fails west of UTC (2 of 2 zones; as well: at UTC-5 and west of it), passes elsewhere (3)"
    found = {str(each.nodeid): each for each in told.findings}
    assert found["west"].label is Label.COUPLING
    assert found["west"].confirmed == 10
    assert found["west"].cause is not None
    assert found["west"].cause.axes == (Axis.TIMEZONE,)
    assert found["always"].label is Label.CONSISTENT_GREEN
    assert [rule.nodeid for rule in told.sweeps[0].rules] == ["west"]


def test_a_test_that_disagrees_with_itself_under_one_value_is_no_coupling_and_has_no_rule() -> None:
    runner = Acting(
        {"flaky": lambda where, attempt: "failed" if where.timezone.startswith("Asia") and attempt == 1 else "passed"}
    )
    told = swept(asked(Axis.TIMEZONE, *HOURS), runner)
    assert told.findings[0].label is Label.NONDETERMINISM
    assert told.sweeps[0].rules == ()


def test_one_that_turns_in_a_further_attempt_is_no_coupling_either() -> None:
    runner = Acting({"rare": lambda where, attempt: "failed" if where.timezone == "UTC" and attempt < 4 else "passed"})
    told = swept(asked(Axis.TIMEZONE, *HOURS), runner)
    assert told.findings[0].label is Label.NONDETERMINISM
    assert told.sweeps[0].rules == ()


def test_a_value_that_is_not_proven_is_said_and_tells_of_no_test() -> None:
    runner = Acting({"west": west}, {"America/New_York": "timezone `America/New_York`: there is no such zone"})
    told = swept(asked(Axis.TIMEZONE, *HOURS), runner)
    assert [each.problem for each in told.sweeps[0].values if not each.observed] == [
        "timezone `America/New_York`: there is no such zone"
    ]
    assert "timezone-America-New_York" not in told.findings[0].outcomes
    assert told.rule("west") == "fails in `America/Los_Angeles`, passes elsewhere (3)"


def test_hash_seeds_are_tried_until_every_test_has_parted() -> None:
    runner = Acting({"third": lambda where, _attempt: "failed" if where.hash_seed == 3 else "passed"})
    told = swept(asked(Axis.HASH_SEED), runner)
    assert [each.untried for each in told.sweeps[0].values] == [""] * 10 + [PARTED_ALL] * 19
    assert told.rule("third") == "fails under hash seed `3`, passes elsewhere (9)"


def test_hash_seeds_are_tried_to_the_end_while_a_test_passes_under_all() -> None:
    runner = Acting({"late": lambda where, _attempt: "failed" if where.hash_seed == 11 else "passed", "always": always})
    told = swept(asked(Axis.HASH_SEED), runner)
    assert all(each.observed for each in told.sweeps[0].values)
    assert told.rule("late") == "fails under hash seed `11`, passes elsewhere (28)"
    assert told.sweeps[0].bound == bound(29)
    assert bound(29).startswith("29 hash seeds: a fault that shows under 1 seed of 10 would have been seen with 95 %")


def test_when_the_time_is_over_no_further_value_is_begun_and_what_was_found_is_confirmed() -> None:
    runner = Acting({"west": west})
    told = swept(asked(Axis.TIMEZONE, *HOURS), runner, lambda: len(runner.ran) > 1)
    tried = [not each.untried for each in told.sweeps[0].values]
    assert tried[:2] == [True, True]
    # Two processors: while one cell ends, another may have begun.
    assert tried[3:] == [False, False]
    assert told.findings[0].confirmed == 10


@pytest.mark.parametrize(("broken", "tried"), [({}, 1), ({"UTC": "there is no such zone"}, 2)])
def test_without_any_time_the_first_value_that_can_be_proven_is_tried_alone(broken: dict[str, str], tried: int) -> None:
    runner = Acting({"west": west}, broken)
    told = swept(asked(Axis.TIMEZONE, *HOURS), runner, lambda: True)
    assert [each.untried for each in told.sweeps[0].values] == [""] * tried + [NO_TIME] * (5 - tried)
    assert len(runner.ran) == tried
    assert [each.problem for each in told.sweeps[0].values if each.problem] == list(broken.values())


def test_axes_share_the_cell_of_what_is_the_same_and_each_has_its_rule() -> None:
    runner = Acting(
        {
            "both": lambda where, attempt: "failed" if where.umask == 0o077 else west(where, attempt),
            "mask": lambda where, _attempt: "failed" if where.umask & 0o004 else "passed",
        }
    )
    named = {
        Axis.TIMEZONE: values.chosen(Axis.TIMEZONE, ("UTC", "America/New_York")),
        Axis.UMASK: values.chosen(Axis.UMASK, ("022", "077")),
    }
    told = swept(values.spread(HOME, named, MACHINE), runner)
    assert sorted(name for name in runner.ran if name.endswith("-1")) == [
        "timezone-America-New_York-1",
        "timezone-UTC-1",
        "umask-077-1",
    ]
    both = next(each for each in told.findings if each.nodeid == "both")
    assert both.cause is not None
    assert both.cause.ways == ((Axis.TIMEZONE,), (Axis.UMASK,))
    assert "umask: fails under umask `077`" in both.cause.detail
    assert {sweep.axis: [rule.nodeid for rule in sweep.rules] for sweep in told.sweeps} == {
        Axis.TIMEZONE: ["both"],
        Axis.UMASK: ["both", "mask"],
    }


def test_environments_have_names_that_containers_may_have_and_no_two_the_same() -> None:
    spread = asked(Axis.VARIABLES, "A=1", "A=/", "A=?", "none")
    names = [each.name for each in spread.environments]
    assert names == ["variables-A-1", "variables-A", "variables-A-2", "variables-none"]
    zones = asked(Axis.TIMEZONE, "Etc/GMT+5", "Etc/GMT-5")
    assert [each.name for each in zones.environments] == ["timezone-Etc-GMTplus5", "timezone-Etc-GMT-5"]


def moments(zone: str, *named: str) -> Breadth:
    home = an_environment("home", timezone=zone)
    return values.spread(home, {Axis.CLOCK: values.chosen(Axis.CLOCK, named)}, MACHINE)


def test_the_days_on_which_clocks_change_are_written_out_and_no_values_where_there_are_none() -> None:
    there = moments("America/New_York", "true", "short-day", "2027-03-14T12:00:00", "long-day").axes[0].values
    assert [(each.value, each.env) for each in there] == [
        ("true", "clock-true"),
        ("2027-03-14T12:00:00", "clock-2027-03-14T12-00-00"),
        ("2027-11-07T12:00:00", "clock-2027-11-07T12-00-00"),
    ]
    spread = moments("Asia/Shanghai", "true", "short-day", "2028-02-29T00:00")
    assert [each.value for each in spread.axes[0].values if each.untried] == ["short-day"]
    assert [each.clock for each in spread.environments] == ["", "2028-02-29T00:00:00"]
    told = rounds.described(spread.axes[0], Ran(cells=()))
    assert [each.untried for each in told.values] == ["", values.NO_CHANGE, ""]
    with pytest.raises(UsageError, match="no value can be tried: clocks never change"):
        moments("Asia/Shanghai", "short-day", "long-day")


@pytest.mark.parametrize(
    ("does", "label"), [("failed", Label.COUPLING), ("timed_out", Label.UNDECIDED), ("crashed", Label.UNDECIDED)]
)
def test_what_hangs_or_dies_at_one_moment_is_not_coupled_to_it_as_what_fails_is(does: str, label: Label) -> None:
    told = swept(
        moments("UTC", "true", "2028-02-29T12:00", "2027-06-15T12:00"),
        Acting({"t": lambda where, _attempt: does if where.clock.startswith("2028") else "passed"}),
    )
    assert [each.label for each in told.findings] == [label]
    assert len(told.sweeps[0].rules) == (label is Label.COUPLING)


class Starving(Acting):
    """A runner in which the cells with a small amount of memory run out of it."""

    def run(self, plan: CellPlan, watch: Watch) -> Cell:
        """Act a cell."""
        cell = super().run(plan, watch)
        short = plan.environment.memory == SMALL and any(run.outcome is Outcome.CRASHED for run in cell.tests)
        return msgspec.structs.replace(cell, status=CellStatus.OUT_OF_MEMORY, detail="certain") if short else cell


def on_less(where: Environment, _attempt: int) -> str:
    return "crashed" if where.memory == SMALL else "passed"


def on_least(where: Environment, _attempt: int) -> str:
    return "failed" if where.memory == SMALL else "passed"


def weighed(told: Told) -> Verdict:
    probed = [cell for cell in told.ran.cells if cell.probe is not None]
    records = [a_record(each.env, {"memory": each.value}) for each in told.sweeps[0].values]
    varied = surroundings.varied(records, probed, {})
    facts = Facts(
        cells=told.ran.cells,
        varied=varied,
        blocking=tuple(conclusions.uncompared(told.sweeps)),
        amounts=conclusions.amounts(told.sweeps),
    )
    return verdict(told.findings, facts)


def test_what_dies_for_want_of_the_memory_that_a_sweep_left_it_is_undecided_and_named_once() -> None:
    runner = Starving({"eats": on_less, "holds": always})
    told = swept(asked(Axis.MEMORY, "all", "256m"), runner)
    found = {str(each.nodeid): each for each in told.findings}
    assert (found["eats"].label, found["holds"].label) == (Label.UNDECIDED, Label.CONSISTENT_GREEN)
    assert found["eats"].note == (
        "it died with its cell, which ran out of memory, in `memory-256m`: what it does there is not known"
    )
    assert told.sweeps[0].rules == ()
    assert len(runner.ran) == 2
    said = weighed(told)
    assert said.exit_code == ExitCode.NO_VERDICT
    assert said.line == "no-verdict: `eats` needs more memory than `256m` (`memory-256m` attempt 1: certain)"
    assert sum("memory-256m` attempt" in reason for reason in said.reasons) == 1


def test_what_fails_beside_it_is_coupled_all_the_same_and_its_cell_is_named_once() -> None:
    told = swept(asked(Axis.MEMORY, "all", "256m"), Starving({"eats": on_less, "fails": on_least, "eats_too": on_less}))
    labels_of = {str(each.nodeid): each.label for each in told.findings}
    assert labels_of["eats"] is labels_of["eats_too"] is Label.UNDECIDED
    said = weighed(told)
    assert said.reasons[0] == "`eats`, `eats_too` need more memory than `256m` (`memory-256m` attempt 1, 2: certain)"
    assert not [reason for reason in said.reasons if "ran out of memory: " in reason]


def test_one_value_alone_or_what_comes_to_one_is_refused() -> None:
    with pytest.raises(UsageError, match="umask: `022` alone is nothing to compare"):
        asked(Axis.UMASK, "022", "022")
    with pytest.raises(UsageError, match=r"workers: `2` alone is nothing to compare \(.*`auto` comes to the same here"):
        asked(Axis.WORKERS, "2", "auto")
    with pytest.raises(UsageError, match=r"clock: `true` alone is nothing to compare \(`short-day`: clocks never change"):
        moments("Asia/Shanghai", "true", "short-day")


@pytest.mark.parametrize(
    ("broken", "left", "said"),
    [
        ({}, {}, []),
        ({"Asia/Kolkata": "no such zone"}, {}, []),
        (
            {"Asia/Kolkata": "no such zone", "America/New_York": "no such zone"},
            {},
            [f"nothing was compared over timezone: `UTC` alone was observed (not {ONE_REASON})"],
        ),
        (
            {"Asia/Kolkata": "no such zone"},
            {"America/New_York": NO_TIME},
            [f"nothing was compared over timezone: `UTC` alone was observed (not {TWO_REASONS})"],
        ),
        ({}, {"America/New_York": PARTED_ALL, "Asia/Kolkata": PARTED_ALL}, []),
    ],
)
def test_an_axis_of_which_one_value_alone_was_observed_was_not_compared(
    broken: dict[str, str], left: dict[str, str], said: list[str]
) -> None:
    spread = asked(Axis.TIMEZONE, "UTC", "America/New_York", "Asia/Kolkata")
    names = {each.value: each.env for each in spread.axes[0].values}
    ran = Ran(
        cells=(),
        problems={(Axis.TIMEZONE, names[zone]): why for zone, why in broken.items()},
        left={names[zone]: why for zone, why in left.items()},
    )
    assert list(conclusions.uncompared([rounds.described(spread.axes[0], ran)])) == said


def test_moved_clocks_are_no_dates_that_changed_while_cells_ran() -> None:
    runner = Acting({"t": lambda where, _attempt: "failed" if where.clock.startswith("2028") else "passed"})
    swept(moments("UTC", "true", "2028-02-29T12:00", "2027-06-15T12:00"), runner)
    assert [name for name in runner.ran if name.endswith("-1")] == [
        "clock-true-1",
        "clock-2028-02-29T12-00-1",
        "clock-2027-06-15T12-00-1",
    ]


def test_what_is_beyond_the_machine_is_refused() -> None:
    assert [each.value for each in asked(Axis.MEMORY, "all", "8g").axes[0].values] == ["all", "8g"]
    for axis, value, said in (
        (Axis.MEMORY, "8193m", "memory: `8193m` is more memory than the 8192 MiB that are there"),
        (Axis.CPUS, "3", "cpus: `3` is more than the processors that are there: write up to 2"),
        (Axis.WORKERS, "65", "workers: `65` workers are more than 2 processors can keep busy: write up to 64"),
    ):
        with pytest.raises(UsageError, match=said):
            asked(axis, "0" if axis is Axis.WORKERS else "all", value)
    with pytest.raises(UsageError, match="cpus: `0` is no number of processors: write one above 0"):
        asked(Axis.CPUS, "0", "all")
    unknown = msgspec.structs.replace(MACHINE, memory=0)
    assert values.spread(HOME, {Axis.MEMORY: values.chosen(Axis.MEMORY, ["all", "10t"])}, unknown).environments


class Stopping(Acting):
    """A runner in which a signal arrives with the cell after so many; one of those before is broken by its test."""

    def __init__(self, left: int, killing: str = "") -> None:
        super().__init__({"west": west, "always": always})
        self.left = left
        self.killing = killing

    def run(self, plan: CellPlan, watch: Watch) -> Cell:
        """Act a cell until the signal."""
        if len(self.ran) == self.left:
            raise Interruption(2)
        cell = super().run(plan, watch)
        killer = a_cell(plan.environment.name, plan.attempt, {"west": "crashed", "always": "passed"}, probe=cell.probe)
        return killer if plan.environment.timezone == self.killing else cell


@pytest.mark.parametrize(
    ("left", "killing", "outcomes", "untried"),
    [
        (2, "", {"UTC": "passed", "America/New_York": "failed"}, 3),
        (6, "", {zone: "failed" if hours < 0 else "passed" for zone, hours in HOURS.items()}, 0),
        (3, "UTC", {"America/New_York": "failed", "America/Los_Angeles": "failed"}, 3),
    ],
)
def test_what_was_seen_before_an_interruption_is_kept_and_what_parts_in_it_is_undecided(
    left: int, killing: str, outcomes: dict[str, str], untried: int
) -> None:
    spread, runner = asked(Axis.TIMEZONE, *HOURS), Stopping(left, killing)
    cells, plans = Cells(alone(runner, 1), {}, a_world()), gate_plans(*spread.environments)
    with pytest.raises(Interruption):
        rounds.run(spread, plans, cells, a_world())
    ran = rounds.so_far(spread, cells.ended)
    zones = {each.env: each.value for each in spread.axes[0].values}
    assert {zones[cell.env]: cell.tests[0].outcome for cell in ran.cells if cell.attempt == 1} == outcomes
    assert list(ran.left.values()) == [INTERRUPTED] * untried
    found = {str(each.nodeid): each.label for each in unconfirmed(ran, plans)}
    assert found["always"] is Label.CONSISTENT_GREEN
    assert found["west"] is (Label.UNDECIDED if len(set(outcomes.values())) > 1 else Label.CONSISTENT_RED)


def test_two_names_of_one_thing_are_one_value() -> None:
    workers = asked(Axis.WORKERS, "0", "2", "auto")
    assert [(each.value, each.env, each.why) for each in workers.axes[0].values] == [
        ("0", "workers-0", "one process, without pytest-xdist"),
        ("2", "workers-2", "the least that can collide; `auto` comes to the same here"),
    ]
    assert len(workers.environments) == 2

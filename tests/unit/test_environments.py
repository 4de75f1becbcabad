"""Settings to environments, environments to cells."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest

from paritygate import environments
from paritygate.config.settings import LOCAL_LIKE, SERVER_LIKE, EnvironmentSettings, Settings
from paritygate.environments import Facts
from paritygate.outcomes.artifact import EnvironmentRecord, Varied
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.plans import CellPlan, Environment, Filesystem, Limits, Order, Selection
from paritygate.outcomes.words import Axis, OrderRule, Purpose, Worktree
from paritygate.runners.specification import Place, specification

EVENING = datetime(2026, 1, 15, 18, tzinfo=UTC)
LOCAL = EnvironmentName("local-like")
SERVER = EnvironmentName("server-like")


def facts(*, cpus: int = 4, now: datetime = EVENING, in_git: bool = True, subject: str = "tree") -> Facts:
    return Facts(cpus=cpus, memory=8 << 30, now=now, estimate_seconds=600.0, in_git=in_git, subject=subject)


def an_environment(name: str = "a", workers: int = 0, **axes: object) -> Environment:
    plain = Environment(
        name=EnvironmentName(name),
        timezone="UTC",
        locale="C.UTF-8",
        case_sensitive=None,
        workers=workers,
        worktree=Worktree.CLEAN,
    )
    return msgspec.structs.replace(plain, **axes)


def plans_for(settings: Settings, *, cpus: int = 4, subject: str = "tree") -> tuple[CellPlan, ...]:
    resolution = environments.resolve(settings, facts(cpus=cpus))
    return environments.gate_plans(resolution.environments, settings, {}, facts(cpus=cpus, subject=subject))


def test_the_default_pair_is_resolved() -> None:
    resolution = environments.resolve(Settings(), facts())
    assert resolution.environments == (
        Environment(
            name=LOCAL,
            timezone="Asia/Shanghai",
            locale="en_US.UTF-8",
            case_sensitive=False,
            workers=0,
            worktree=Worktree.DIRTY,
        ),
        Environment(name=SERVER, timezone="UTC", locale="C.UTF-8", case_sensitive=True, workers=4, worktree=Worktree.CLEAN),
    )
    assert resolution.notes == ()
    assert resolution.zones[LOCAL].sign == 1


def test_everything_that_a_user_sets_is_in_the_environment() -> None:
    settings = EnvironmentSettings(
        timezone="Asia/Kolkata", locale="de_DE.utf8", cpus=1.5, memory="512m", umask="077", workers="auto", variables={"CI": "1"}
    )
    resolution = environments.resolve(Settings(environments={"x": settings}), facts())
    assert resolution.environments == (
        Environment(
            name=EnvironmentName("x"),
            timezone="Asia/Kolkata",
            locale="de_DE.UTF-8",
            case_sensitive=True,
            workers=2,
            worktree=Worktree.CLEAN,
            umask=0o077,
            cpus=1.5,
            memory=512 << 20,
            variables={"CI": "1"},
        ),
    )


def test_auto_differs_from_the_first_zone_that_is_fixed() -> None:
    server = msgspec.structs.replace(SERVER_LIKE, timezone="Asia/Shanghai")
    resolution = environments.resolve(Settings(environments={"a": LOCAL_LIKE, "b": server}), facts())
    assert [each.timezone for each in resolution.environments] == ["America/Los_Angeles", "Asia/Shanghai"]


def test_a_run_over_midnight_is_noted() -> None:
    resolution = environments.resolve(Settings(), facts(now=datetime(2026, 1, 15, 23, 55, tzinfo=UTC)))
    assert resolution.notes == (
        (
            "no time zone has another date than `UTC` during the whole run: in local-like `Asia/Shanghai` differs until 00:00 "
            "UTC; in 5 min one would"
        ),
    )


def test_more_processors_than_the_engine_has_are_noted() -> None:
    settings = Settings(environments={"x": EnvironmentSettings(cpus=8)})
    assert environments.resolve(settings, facts()).notes == ("x asks for 8 processors, and the engine has 4",)


def test_without_git_the_worktree_does_not_vary() -> None:
    reasons = environments.resolve(Settings(), facts(in_git=False)).reasons
    assert reasons[Axis.WORKTREE] == "git tracks nothing here, so nothing says what a fresh clone would lack"
    alike = Settings(environments={"a": SERVER_LIKE, "b": SERVER_LIKE})
    assert environments.resolve(alike, facts(in_git=False)).reasons == {}


def test_what_is_known_beforehand_goes_over_what_was_found() -> None:
    found = [Varied(axis=Axis.TIMEZONE, varied=True), Varied(axis=Axis.WORKTREE, varied=True)]
    assert environments.explain(found, {Axis.WORKTREE: "no git", Axis.CLOCK: "not offered"}) == (
        Varied(axis=Axis.TIMEZONE, varied=True),
        Varied(axis=Axis.WORKTREE, varied=False, why="no git"),
    )


Folds = bool | None


@pytest.mark.parametrize(
    ("sides", "resolved", "folds"),
    [
        (("any", "any"), [None, None], [None, None]),
        (("any", True), [None, True], [None, None]),
        ((True, True), [True, True], [None, None]),
        ((False, True), [False, True], [True, False]),
        ((False, False), [False, False], [True, True]),
        (("any", False), [True, False], [False, True]),
    ],
)
def test_all_cells_are_on_one_filesystem_where_one_environment_folds_case(
    sides: tuple[object, object], resolved: list[Folds], folds: list[Folds]
) -> None:
    pair = {str(index): msgspec.structs.replace(SERVER_LIKE, case_sensitive=side) for index, side in enumerate(sides)}
    settings = Settings(environments=pair, attempts=1)
    resolution = environments.resolve(settings, facts())
    assert [each.case_sensitive for each in resolution.environments] == resolved
    assert [plan.filesystem.fold if plan.filesystem else None for plan in plans_for(settings)] == folds


def test_an_order_of_names_is_that_of_every_attempt_and_leaves_the_other_side_as_it_is() -> None:
    shuffled = msgspec.structs.replace(SERVER_LIKE, directory_order="shuffled")
    plans = plans_for(Settings(environments={"a": shuffled, "b": SERVER_LIKE}, seeds=(5, 6)))
    assert [plan.filesystem for plan in plans] == [
        *[Filesystem(fold=False, order="shuffled", seed=5)] * 2,
        *[Filesystem(fold=False, order="", seed=0)] * 2,
    ]


def test_only_a_cell_that_folds_case_lacks_what_another_name_shadows() -> None:
    shadowed = {Worktree.DIRTY: ("b",), Worktree.CLEAN: ("c",)}
    given = msgspec.structs.replace(facts(), shadowed=shadowed)
    resolution = environments.resolve(Settings(), given)
    plans = environments.gate_plans(resolution.environments, Settings(attempts=1), {}, given)
    assert [plan.filesystem.shadowed if plan.filesystem else None for plan in plans] == [("b",), ()]


def test_a_record_holds_every_axis_and_no_secret() -> None:
    environment = an_environment(workers=2, variables={"CI": "true", "API_TOKEN": "hunter2"})
    assert environments.record(environment, "sha256:1") == EnvironmentRecord(
        name=EnvironmentName("a"),
        axes={
            Axis.TIMEZONE: "UTC",
            Axis.LOCALE: "C.UTF-8",
            Axis.CASE_SENSITIVE: "any",
            Axis.WORKERS: "2",
            Axis.WORKTREE: "clean",
            Axis.CPUS: "0.0",
            Axis.MEMORY: "0",
            Axis.UMASK: "022",
            Axis.DIRECTORY_ORDER: "",
            Axis.CLOCK: "true",
            Axis.VARIABLES: "API_TOKEN=*** CI=true",
            Axis.HASH_SEED: "",
            Axis.USER: "",
        },
        image="sha256:1",
    )


@pytest.mark.parametrize("axis", environments.OFFERED)
def test_a_hybrid_takes_the_named_axis_from_the_second_and_nothing_else(axis: Axis) -> None:
    first = an_environment("a")
    second = an_environment(
        "b",
        timezone="Asia/Tokyo",
        locale="C",
        case_sensitive=False,
        workers=3,
        worktree=Worktree.DIRTY,
        cpus=2.0,
        memory=1 << 30,
        umask=0o077,
        directory_order="sorted",
        clock="2028-02-29T12:00:00",
        variables={"CI": "1"},
        hash_seed=0,
        user="root",
    )
    mixed = environments.hybrid(first, second, [axis], "mixed")
    assert mixed.name == "mixed"
    assert mixed.value(axis) == second.value(axis) != first.value(axis)
    assert all(mixed.value(other) == first.value(other) for other in environments.OFFERED if other is not axis)


def test_a_hybrid_of_all_axes_is_the_second_under_another_name() -> None:
    second = an_environment("b", workers=3, umask=0o077)
    mixed = environments.hybrid(an_environment("a"), second, environments.OFFERED, "mixed")
    assert msgspec.structs.replace(mixed, name=second.name) == second


def test_an_axis_without_a_value_makes_no_hybrid() -> None:
    with pytest.raises(ValueError, match="`image` is not an axis"):
        environments.hybrid(an_environment("a"), an_environment("b"), [Axis.IMAGE], "mixed")


def test_where_one_environment_has_a_clock_all_cells_ask_the_same_library_for_the_time() -> None:
    pair = {"now": EnvironmentSettings(), "then": EnvironmentSettings(clock="2028-02-29 23:59:30")}
    plans = plans_for(Settings(environments=pair))
    assert [(plan.environment.clock, plan.clocks) for plan in plans[::2]] == [("", True), ("2028-02-29T23:59:30", True)]
    assert [msgspec.json.decode(specification(plan, Place(), ""))["clock"] for plan in plans[::2]] == [
        {"library": "/opt/paritygate/clock.so", "moment": "", "files": False, "system": True},
        {"library": "/opt/paritygate/clock.so", "moment": "2028-02-29T23:59:30", "files": False, "system": True},
    ]
    assert not any(plan.clocks for plan in plans_for(Settings()))


def test_an_environment_with_a_clock_says_what_keeps_the_true_time() -> None:
    pair = {"then": EnvironmentSettings(clock="2028-02-29T12:00:00"), "now": EnvironmentSettings()}
    (note,) = environments.resolve(Settings(environments=pair), facts()).notes
    assert note.startswith("then: the clock is moved for programs alone: files have their true times")
    _, other = environments.resolve(Settings(environments={"then": pair["then"]}), facts()).notes
    assert other.startswith("no environment has the true time: a test that compares the times of files")


def test_the_gate_has_two_attempts_in_each_environment_and_equal_seeds_and_orders() -> None:
    settings = Settings(seeds=(11, 22), network=True, test_timeout=9.0)
    resolution = environments.resolve(settings, facts())
    selections = {LOCAL: Selection(paths=("tests",)), SERVER: Selection(paths=("tests", "more"))}
    plans = environments.gate_plans(resolution.environments, settings, selections, facts())
    assert [plan.name for plan in plans] == ["local-like-1", "local-like-2", "server-like-1", "server-like-2"]
    assert [plan.seed for plan in plans] == [11, 22, 11, 22]
    assert [plan.order for plan in plans] == [Order(seed=11), Order(seed=11, reversed=True)] * 2
    assert [plan.selection.paths for plan in plans] == [("tests",), ("tests",), ("tests", "more"), ("tests", "more")]
    assert {plan.purpose for plan in plans} == {Purpose.GATE}
    assert {plan.network for plan in plans} == {True}
    assert {plan.limits.test_seconds for plan in plans} == {9.0}


def test_attempts_in_pairs_share_an_order_seed_and_the_second_is_reversed() -> None:
    plans = plans_for(Settings(attempts=5, seeds=(1, 2, 3, 4, 5), environments={"a": SERVER_LIKE}))
    assert [(plan.order.seed, plan.order.reversed) for plan in plans] == [
        (1, False),
        (1, True),
        (3, False),
        (3, True),
        (5, False),
    ]


def test_seeded_orders_follow_each_attempts_own_seed() -> None:
    plans = plans_for(Settings(seeds=(1, 2), order=OrderRule.SEEDED, environments={"a": SERVER_LIKE}))
    assert [plan.order for plan in plans] == [Order(seed=1), Order(seed=2)]


def test_seeds_that_nobody_gave_follow_from_the_subject() -> None:
    first, again, other = (plans_for(Settings(), subject=subject) for subject in ("tree 1", "tree 1", "tree 2"))
    assert [plan.seed for plan in first] == [plan.seed for plan in again]
    assert [plan.seed for plan in first] != [plan.seed for plan in other]
    assert first[0].seed != first[1].seed
    assert first[0].seed == first[2].seed


def test_derived_seeds_are_these() -> None:
    """Written out, since a change of the derivation would change the seeds of every project."""
    assert [environments.seed_of(Settings(), "tree", attempt) for attempt in (1, 2)] == [4224575365, 657568283]
    assert (
        environments.seed_of(Settings(seeds=(7,)), "tree", 2)
        == environments.seed_of(Settings(seeds=(7,)), "other", 2)
        == 1384494195
    )


@pytest.mark.parametrize(
    ("workers", "cpus", "at_once"),
    [
        ((0, 0, 2, 2), 2, 2),
        ((0, 0, 4, 4), 4, 2),
        ((0, 0, 2, 2), 4, 3),
        ((0, 0, 2, 2), 8, 4),
        ((0, 0), 1, 1),
        ((8,), 2, 1),
        ((8, 0, 0), 2, 2),
        ((), 2, 0),
    ],
)
def test_cells_run_side_by_side_as_far_as_the_processors_go(workers: tuple[int, ...], cpus: int, at_once: int) -> None:
    plan = plans_for(Settings())[0]
    plans = [msgspec.structs.replace(plan, environment=an_environment(workers=each)) for each in workers]
    assert environments.slots(plans, cpus) == at_once


def test_memory_is_the_environments_own_else_the_settings_else_a_share_of_the_engines() -> None:
    pair = {"own": msgspec.structs.replace(LOCAL_LIKE, memory="512m"), "other": LOCAL_LIKE}
    shares = plans_for(Settings(attempts=1, environments=pair))
    assert [plan.limits.memory for plan in shares] == [512 << 20, 4 << 30]
    given = plans_for(Settings(attempts=1, environments=pair, memory="1g"))
    assert [plan.limits.memory for plan in given] == [512 << 20, 1 << 30]


def test_limits_are_those_of_the_settings() -> None:
    settings = Settings(cell_timeout=1.0, test_timeout=2.0, idle_timeout=3.0, processes=4, shared_memory="8m", open_files=5)
    assert environments.limits_of(settings, an_environment(), 6) == Limits(
        cell_seconds=1.0, test_seconds=2.0, idle_seconds=3.0, processes=4, memory=6, shared_memory=8 << 20, open_files=5
    )


def test_no_zone_is_waited_for_where_a_clock_says_what_the_date_is() -> None:
    late = facts(now=datetime(2026, 6, 15, 23, 55, tzinfo=UTC))
    pair = {"here": LOCAL_LIKE, "there": SERVER_LIKE}
    (plain,) = environments.resolve(Settings(environments=pair), late).zones.values()
    pair["there"] = msgspec.structs.replace(SERVER_LIKE, clock="2028-02-29T12:00:00")
    (clocked,) = environments.resolve(Settings(environments=pair), late).zones.values()
    assert (plain.whole, clocked.whole, clocked.wait) == (False, True, 0.0)
    assert (plain.wait > 0, plain.name) == (True, clocked.name)

"""What `paritygate classify` says where cells of a matrix are missing, or do not have the seeds that they should have."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paritygate import archive
from paritygate.archive import CellFile
from paritygate.classifier import numbering, planning
from paritygate.classifier.surroundings import Attempt
from paritygate.outcomes.artifact import SCHEMA
from paritygate.outcomes.cells import EnvironmentName, Shard
from paritygate.outcomes.words import Label
from tests.support.builders import a_cell, a_finding, a_probe, a_record, a_square, a_subject, an_artifact
from tests.support.command_line import Said, call

LOCAL, SERVER = EnvironmentName("local-like"), EnvironmentName("server-like")
PAIR = {LOCAL: 2, SERVER: 2}
ZONES = {LOCAL: "Asia/Shanghai", SERVER: "UTC"}
OFFSETS = {LOCAL: 28800, SERVER: 0}
T = "tests/test_a.py::test_a"
TODO = "is missing: no file holds it; run its job again, or plan fewer in every job (`--attempts`, `--env`)"


def job(folder: Path, env: str, attempt: int, outcome: str = "passed", **changes: Any) -> str:
    """Write the file of one job of a matrix, as `paritygate cell` does, and give its name."""
    name = EnvironmentName(env)
    planned, seeds = changes.pop("planned", PAIR), changes.pop("seeds", ())
    probe = a_probe(timezone=ZONES[name], utcoffset_january=OFFSETS[name], utcoffset_july=OFFSETS[name])
    cell = msgspec.structs.replace(a_cell(env, attempt, {T: outcome}, probe=probe), **changes)
    file = CellFile(
        schema=SCHEMA,
        paritygate="0.1.0",
        subject=a_subject(),
        cells=(cell,),
        environments=(a_record(env, {"timezone": ZONES[name]}),),
        planned=planned,
        seeds=seeds,
    )
    path = folder / f"{env}-{attempt}{'-'.join(map(str, ('', *cell.shards)))}.json".replace("/", "of")
    archive.write(file, path)
    return path.name


def classified(folder: Path, outcomes: Mapping[tuple[str, int], str]) -> Said:
    return call(folder, "classify", *(job(folder, *which, outcome) for which, outcome in outcomes.items()), "--report", "r.json")


def test_all_that_was_planned_is_parity(tmp_path: Path) -> None:
    said = classified(tmp_path, {(env, attempt): "passed" for env in PAIR for attempt in (1, 2)})
    assert (said.code, said.out.splitlines()[0]) == (0, "parity over timezone: 1 test in 4 cells (exit 0)")
    assert archive.read(tmp_path / "r.json").planned == PAIR


@pytest.mark.parametrize(
    ("there", "missing"),
    [
        ((("local-like", 1), ("local-like", 2), ("server-like", 1)), ["`server-like` attempt 2"]),
        ((("local-like", 2), ("server-like", 1), ("server-like", 2)), ["`local-like` attempt 1"]),
        ((("local-like", 1), ("server-like", 1)), ["`local-like` attempt 2", "`server-like` attempt 2"]),
        ((("local-like", 1), ("local-like", 2)), ["`server-like` attempt 1", "`server-like` attempt 2"]),
        ((("server-like", 2),), ["`local-like` attempt 1", "`local-like` attempt 2", "`server-like` attempt 1"]),
    ],
)
@pytest.mark.parametrize("outcome", ["passed", "failed"])
def test_a_cell_without_a_file_leaves_no_verdict_and_is_named(
    there: tuple[tuple[str, int], ...], missing: list[str], outcome: str, tmp_path: Path
) -> None:
    said = classified(tmp_path, dict.fromkeys(there, outcome))
    assert (said.code, said.out.splitlines()[0]) == (4, f"no-verdict: {missing[0]} {TODO} (exit 4)")
    report = archive.read(tmp_path / "r.json")
    assert report.verdict.reasons == tuple(f"{name} {TODO}" for name in missing)
    # What was seen is told all the same.
    assert report.tests[0].label is (Label.CONSISTENT_GREEN if outcome == "passed" else Label.CONSISTENT_RED)
    assert call(tmp_path, "verify", "r.json", "--without-checkout").code == 0


def test_one_attempt_a_side_of_two_is_no_coupling(tmp_path: Path) -> None:
    said = classified(tmp_path, {("local-like", 1): "failed", ("server-like", 1): "passed"})
    assert said.code == 4
    (found,) = archive.read(tmp_path / "r.json").tests
    assert found.label is Label.UNDECIDED
    assert found.note.startswith("of `local-like`, `server-like` there is one attempt of several that were planned, so nothing ")


def test_a_contradiction_stays_one_and_the_verdict_is_none(tmp_path: Path) -> None:
    said = classified(tmp_path, {("local-like", 1): "failed", ("local-like", 2): "passed", ("server-like", 1): "passed"})
    assert said.code == 4
    assert archive.read(tmp_path / "r.json").tests[0].label is Label.NONDETERMINISM


def test_fewer_are_enough_where_every_job_planned_so(tmp_path: Path) -> None:
    once = {LOCAL: 1, SERVER: 1}
    red = [job(tmp_path, "local-like", 1, "failed", planned=once), job(tmp_path, "server-like", 1, planned=once)]
    assert call(tmp_path, "classify", *red).code == 3
    alone = [job(tmp_path, "local-like", attempt, planned={LOCAL: 2}) for attempt in (1, 2)]
    said = call(tmp_path, "classify", *alone)
    assert (said.code, said.out.splitlines()[0]) == (0, "stable in local-like (one environment, nothing compared) (exit 0)")
    # Where one of them planned more, that counts.
    assert call(tmp_path, "classify", *alone, job(tmp_path, "server-like", 1)).code == 4


def test_shards_that_are_all_missing_are_a_cell_that_is_missing(tmp_path: Path) -> None:
    parts = [
        job(
            tmp_path,
            env,
            attempt,
            shards=(Shard(number, 2, "split"),),
            tests=a_cell(outcomes={f"{number}.py::t": "passed"}).tests,
        )
        for env, attempt in (("local-like", 1), ("local-like", 2), ("server-like", 1), ("server-like", 2))
        for number in (1, 2)
    ]
    assert call(tmp_path, "classify", *parts).code == 0
    said = call(tmp_path, "classify", *parts[:6])
    assert (said.code, said.out.splitlines()[0]) == (4, f"no-verdict: `server-like` attempt 2 {TODO} (exit 4)")
    said = call(tmp_path, "classify", *parts[:7])
    assert said.code == 64
    assert "of `server-like` attempt 2 shard 2/2 is in no file" in said.err


def test_a_job_that_ran_twice_does_not_stand_in_for_another(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    files = [job(tmp_path, "local-like", 1), job(tmp_path, "local-like", 2), job(tmp_path, "server-like", 1)]
    again = job(tmp_path / "again", "server-like", 1, seconds=3.0)
    said = call(tmp_path, "classify", *files, f"again/{again}", "--report", "r.json")
    assert (said.code, said.out.splitlines()[0]) == (4, f"no-verdict: `server-like` attempt 2 {TODO} (exit 4)")
    cells = archive.read(tmp_path / "r.json").cells
    assert [(cell.env, cell.attempt) for cell in cells if cell.env == SERVER] == [("server-like", 1), ("server-like", 3)]


def test_where_nobody_says_what_was_planned_that_is_said(tmp_path: Path) -> None:
    said = call(tmp_path, "classify", job(tmp_path, "local-like", 1, planned={}), job(tmp_path, "server-like", 1, planned={}))
    assert said.code == 0
    assert "whether a cell is missing cannot be seen" in said.out


def test_a_report_that_lacks_a_cell_that_it_says_was_planned_is_found_out(tmp_path: Path) -> None:
    planned = {EnvironmentName("a"): 2, EnvironmentName("b"): 3}
    whole = an_artifact(planned=planned, cells=a_square({"a": "passed passed", "b": "passed passed"}))
    archive.write(whole, tmp_path / "r.json")
    said = call(tmp_path, "classify", "r.json")
    assert (said.code, "`b` attempt 3 is missing" in said.out) == (4, True)


def test_pasted_cells_are_missed_as_well(tmp_path: Path) -> None:
    (tmp_path / "shown.txt").write_text(
        "===== test session starts =====\ncollected 1 item\n\ntests/test_a.py::test_a PASSED [100%]\n===== 1 passed in 1s =====\n"
    )
    files = [job(tmp_path, "local-like", attempt, planned={LOCAL: 2}) for attempt in (1, 2)]
    which = ("--env", "server-like", "--attempt", "1", "--seed", "101")
    assert call(tmp_path, "ingest", *which, "shown.txt").code == 0
    assert archive.read_cells(tmp_path / "server-like-1.json").planned == PAIR
    said = call(tmp_path, "classify", *files, "server-like-1.json")
    assert (said.code, said.out.partition(" (local-like on")[0]) == (4, f"no-verdict: `server-like` attempt 2 {TODO}")
    assert call(tmp_path, "ingest", *which, "--attempts", "1", "shown.txt", "--out", "one.json").code == 0
    assert archive.read_cells(tmp_path / "one.json").planned == {LOCAL: 1, SERVER: 1}
    more = call(tmp_path, "ingest", *which, "shown.txt", "--out", "more.json", variables={"PARITY_ATTEMPTS": "3"})
    assert (more.code, archive.read_cells(tmp_path / "more.json").planned) == (0, {LOCAL: 3, SERVER: 3})


def test_seeds_that_differ_between_environments_are_refused(tmp_path: Path) -> None:
    files = [job(tmp_path, env, attempt, seed=seed) for env, attempt, seed in (("local-like", 1, 4), ("local-like", 2, 7))]
    files += [job(tmp_path, "server-like", 1, "failed", seed=4), job(tmp_path, "server-like", 2, "failed", seed=2)]
    said = call(tmp_path, "classify", *files)
    assert (said.code, said.out) == (64, "")
    assert said.err == (
        "paritygate: attempt 2 has seed 7 in `local-like` and seed 2 in `server-like`\n"
        "hint: attempt k has the same seed in every environment: give all the same `--seed`, or neither `--seed` nor `--env`\n"
    )


def test_jobs_that_planned_other_seeds_are_refused_also_where_the_order_alone_hangs_on_them(tmp_path: Path) -> None:
    files = [job(tmp_path, env, attempt, seeds=(101, 202, 303)[: attempt + 1]) for env in PAIR for attempt in (1, 2)]
    assert call(tmp_path, "classify", *files).code == 0
    said = call(tmp_path, "classify", *files[:3], job(tmp_path, "server-like", 2, seeds=(9, 202)))
    assert (said.code, said.out) == (64, "")
    assert said.err.startswith(
        "paritygate: the seed of attempt 1 is not the same in `local-like-1.json` and `server-like-2.json`: 101 and 9\n"
        "hint: attempt k has the same seed in every environment: "
    )


def test_two_runs_with_seeds_of_their_own_are_further_attempts_of_each_other(tmp_path: Path) -> None:
    for number, seeds in enumerate(((1, 2), (7, 8))):
        cells = tuple(
            a_cell(env, attempt, {T: "passed"}, seed=seed) for env in ("a", "b") for attempt, seed in enumerate(seeds, start=1)
        )
        planned = {EnvironmentName("a"): 2, EnvironmentName("b"): 2}
        archive.write(an_artifact(cells=cells, planned=planned), tmp_path / f"{number}.json")
    merged = archive.merge([(tmp_path / f"{n}.json", archive.read_cells(tmp_path / f"{n}.json")) for n in (0, 1)])
    assert [(cell.env, cell.attempt, cell.seed) for cell in merged.cells] == [
        ("a", 1, 1), ("a", 2, 2), ("b", 1, 1), ("b", 2, 2), ("a", 3, 7), ("a", 4, 8), ("b", 3, 7), ("b", 4, 8),
    ]  # fmt: skip


@given(
    st.dictionaries(st.sampled_from([LOCAL, SERVER, EnvironmentName("third")]), st.integers(1, 4), min_size=1),
    st.sets(st.tuples(st.sampled_from([LOCAL, SERVER]), st.integers(1, 5))),
)
def test_what_is_missing_and_what_is_there_are_what_was_planned(
    planned: dict[EnvironmentName, int], there: set[tuple[EnvironmentName, int]]
) -> None:
    cells = [a_cell(env, attempt) for env, attempt in there]
    absent = {(each.env, each.attempt) for each in planning.missing(planned, cells)}
    whole = {(env, attempt) for env, number in planned.items() for attempt in range(1, number + 1)}
    assert absent | (there & whole) == whole
    assert not absent & there


@given(st.lists(st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 3)), max_size=4), max_size=4))
def test_no_cell_gets_a_number_that_another_has(groups: list[list[tuple[str, int]]]) -> None:
    files = [[a_cell(env, attempt) for env, attempt in dict.fromkeys(group)] for group in groups]
    planned = {EnvironmentName("a"): 2}
    numbered = list(numbering.numbered_on(files, planned))
    names = [(cell.env, cell.attempt) for cell in numbered]
    assert len(names) == len(set(names)) == sum(map(len, files))
    asked = {(cell.env, cell.attempt) for group in files for cell in group}
    assert asked <= set(names)
    assert not {("a", 1), ("a", 2)} & (set(names) - asked)


def test_every_environment_must_have_agreed_with_itself_for_a_coupling() -> None:
    finding = a_finding(label="coupling", outcomes={"a": "passed passed", "b": "failed"})
    (held,) = planning.held_back([finding], {EnvironmentName("a"): 2, EnvironmentName("b"): 2})
    assert held.label is Label.UNDECIDED
    assert planning.held_back([finding], {EnvironmentName("a"): 2, EnvironmentName("b"): 1}) == (finding,)
    assert planning.missing({EnvironmentName("a"): 1}, []) == (Attempt(EnvironmentName("a"), 1),)

"""Shards: every test in exactly one, every job with the same split, and one cell of them again or none at all."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paritygate import archive
from paritygate.archive import CellFile
from paritygate.classifier import shards
from paritygate.errors import UsageError
from paritygate.gate import sharding
from paritygate.guest.plugin import paritygate_recorder
from paritygate.outcomes.cells import Cell, Dates, NodeId, Shard, TestId
from paritygate.outcomes.plans import Share
from paritygate.outcomes.words import CellStatus, Label, Outcome
from tests.support.builders import a_broken_file, a_cell, a_far_probe, a_probe, a_record, a_subject
from tests.support.command_line import call

DATES = (Dates("2026-01-02", "2026-01-01"),)
FILES = st.dictionaries(st.text("abc/", min_size=1, max_size=6), st.floats(0, 1e4) | st.none(), max_size=12)


class TestSplitting:
    @given(files=FILES, total=st.integers(1, 7), extra=st.lists(st.text("xyz", min_size=1, max_size=4), max_size=6))
    def test_every_test_is_in_exactly_one_shard_whether_its_file_was_known_or_not(
        self, files: dict[str, float | None], total: int, extra: list[str]
    ) -> None:
        taken = {name: seconds for name, seconds in files.items() if seconds is not None}
        split = sharding.split(files, taken, total)
        for name in (*files, *extra):
            parts = [{"number": number, "total": total, "files": split} for number in range(1, total + 1)]
            assert sum(paritygate_recorder.shares(part, f"{name}::test_a[x::y]") for part in parts) == 1

    @given(files=FILES, total=st.integers(1, 7), order=st.randoms(use_true_random=False))
    def test_the_split_depends_on_nothing_but_names_and_durations(
        self, files: dict[str, float | None], total: int, order: Random
    ) -> None:
        taken = {name: seconds for name, seconds in files.items() if seconds is not None}
        shuffled = list(files)
        order.shuffle(shuffled)
        assert sharding.split(shuffled, dict(reversed(taken.items())), total) == sharding.split(files, taken, total)

    def test_the_longest_are_parted_and_the_rest_fills_up(self) -> None:
        taken = {"a": 6.0, "b": 4.0, "c": 3.0, "d": 2.0, "e": 1.0}
        assert sharding.split(taken, taken, 2) == {"a": 1, "b": 2, "c": 2, "d": 1, "e": 2}

    def test_a_file_of_unknown_length_counts_as_most_do(self) -> None:
        assert sharding.split(["a", "b", "new"], {"a": 5.0, "b": 5.0}, 3) == {"a": 1, "b": 2, "new": 3}

    def test_a_split_has_another_digest_where_any_file_is_elsewhere(self) -> None:
        one = Share(number=1, total=2, files={"a": 1, "b": 2})
        assert sharding.described(one) == sharding.described(msgspec.structs.replace(one, files={"b": 2, "a": 1}))
        assert sharding.described(one).split == sharding.described(msgspec.structs.replace(one, number=2)).split
        assert sharding.described(one).split != sharding.described(msgspec.structs.replace(one, files={"a": 2, "b": 1})).split

    @pytest.mark.parametrize("text", ["", "1", "0/2", "3/2", "1/0", "-1/2", "a/b", "1/2/3"])
    def test_what_is_no_shard_is_refused(self, text: str) -> None:
        with pytest.raises(UsageError, match="is no shard"):
            sharding.parse(text)

    def test_durations_are_those_of_a_cell_on_average(self, tmp_path: Path) -> None:
        cells = [
            a_cell("a", 1, {"f.py::a": "passed", "f.py::b": "passed", "g.py::c": "passed"}),
            a_cell("b", 1, {"f.py::a": "passed"}),
        ]
        slow = [
            msgspec.structs.replace(cell, tests=tuple(msgspec.structs.replace(run, seconds=2.0) for run in cell.tests))
            for cell in cells
        ]
        assert sharding.durations(written(tmp_path / "r.json", *slow)) == {"f.py": 3.0, "g.py": 2.0}

    def test_a_report_without_tests_says_no_durations(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="no cell in which tests ran"):
            sharding.durations(written(tmp_path / "r.json", a_cell("a", 1)))


def a_shard(number: int, total: int, outcomes: dict[str, str], env: str = "a", attempt: int = 1, **changes: Any) -> Cell:
    cell = a_cell(env, attempt, outcomes, probe=a_probe(), **changes)
    return msgspec.structs.replace(cell, shards=(Shard(number, total, "split"),))


def written(path: Path, *cells: Cell, **changes: object) -> Path:
    records = tuple(a_record(env, {"timezone": env}) for env in dict.fromkeys(cell.env for cell in cells))
    file = CellFile(schema=1, paritygate="0.1.0", subject=a_subject(), cells=cells, environments=records)
    archive.write(msgspec.structs.replace(file, **changes), path)
    return path


def joined(*cells: Cell) -> tuple[Cell, ...]:
    return shards.joined((Path(f"{number}.json"), cell) for number, cell in enumerate(cells))


class TestJoining:
    def test_shards_become_the_cell_that_was_split(self) -> None:
        (whole,) = joined(
            a_shard(
                2,
                2,
                {"g.py::b": "failed"},
                deselected=3,
                dates=(Dates("2026-01-02", "2026-01-01"),),
                excluded={NodeId("x"): "no"},
            ),
            a_shard(1, 2, {"f.py::a": "passed", "f.py::c": "skipped"}, deselected=2),
        )
        assert [run.nodeid for run in whole.tests] == ["f.py::a", "f.py::c", "g.py::b"]
        assert (whole.status, whole.passed, whole.collected, whole.deselected) == (CellStatus.FINISHED, False, 3, 1)
        assert [str(shard) for shard in whole.shards] == ["1/2", "2/2"]
        assert whole.order == {"1:": (TestId(NodeId("f.py::a")), TestId(NodeId("f.py::c"))), "2:": (TestId(NodeId("g.py::b")),)}
        assert {run.worker for run in whole.tests} == {"1:", "2:"}
        assert whole.excluded == {"x": "no"}
        assert whole.dates == DATES
        assert not shards.is_part(whole)

    def test_environments_and_attempts_stay_apart(self) -> None:
        cells = joined(
            *(a_shard(n, 2, {f"{n}.py::a": "passed"}, env, attempt) for env in "ab" for attempt in (1, 2) for n in (1, 2))
        )
        assert [(cell.env, cell.attempt, len(cell.tests)) for cell in cells] == [
            ("a", 1, 2),
            ("a", 2, 2),
            ("b", 1, 2),
            ("b", 2, 2),
        ]

    def test_a_file_that_breaks_in_every_shard_counts_once(self) -> None:
        (whole,) = joined(*(a_shard(n, 3, {f"{n}.py::a": "passed"}, runs=[a_broken_file("broken.py")]) for n in (1, 2, 3)))
        assert [run.nodeid for run in whole.tests].count(NodeId("broken.py")) == 1
        assert len(whole.tests) == 4

    @pytest.mark.parametrize(
        ("statuses", "status"),
        [
            (("finished", "no_tests"), "finished"),
            (("no_tests", "no_tests"), "no_tests"),
            (("finished", "timed_out"), "timed_out"),
            (("unusable", "unusable"), "unusable"),
            (("finished", "unusable"), "crashed"),
            (("timed_out", "out_of_memory"), "crashed"),
            (("no_tests", "environment_mismatch"), "environment_mismatch"),
        ],
    )
    def test_the_whole_ends_as_badly_as_its_worst_shard(self, statuses: tuple[str, ...], status: str) -> None:
        cells = [a_shard(n, 2, {}, status=CellStatus(each), detail=f"so {each}") for n, each in enumerate(statuses, start=1)]
        (whole,) = joined(*cells)
        assert whole.status == status
        if status not in {"finished", "no_tests"}:
            assert f"shard 2/2: so {statuses[1]}" in whole.detail

    @pytest.mark.parametrize(
        ("cells", "said"),
        [
            ((a_shard(1, 3, {}), a_shard(3, 3, {})), "shard 2/3 is in no file"),
            ((a_shard(1, 4, {}), a_shard(3, 4, {})), "shards 2/4, 4/4 are in no file"),
            (
                (a_shard(1, 2, {"t": "passed"}), a_shard(1, 2, {"t": "failed"}), a_shard(2, 2, {})),
                "shard 1/2 of `a` attempt 1 is in `0.json` and, otherwise, in `1.json`",
            ),
            (
                (a_shard(1, 2, {}), a_shard(2, 3, {})),
                "the number of shards of `a` attempt 1 is not the same in `0.json` and `1.json`: 2 and 3",
            ),
            (
                (a_shard(1, 2, {}), a_shard(2, 2, {}, seed=5)),
                "the seed of `a` attempt 1 is not the same in `0.json` and `1.json`: 101 and 5",
            ),
            (
                (a_shard(1, 2, {"t": "passed"}), a_shard(2, 2, {"t": "passed"})),
                "`t` of `a` attempt 1 ran in shard 1/2 and, by `1.json`, in 2/2",
            ),
        ],
    )
    def test_what_is_no_whole_is_refused_and_says_what_is_wrong(self, cells: tuple[Cell, ...], said: str) -> None:
        with pytest.raises(UsageError) as caught:
            joined(*cells)
        assert said in caught.value.message

    def test_another_split_is_refused(self) -> None:
        other = msgspec.structs.replace(a_shard(2, 2, {}), shards=(Shard(2, 2, "otherwise"),))
        with pytest.raises(UsageError, match="way in which the shards were split"):
            joined(a_shard(1, 2, {}), other)

    def test_the_same_file_twice_counts_once(self) -> None:
        one = a_shard(1, 2, {"a": "passed"})
        assert len(joined(one, one, a_shard(2, 2, {"b": "passed"}))[0].tests) == 2


class TestClassifying:
    def test_shards_of_all_cells_come_to_the_verdict_of_whole_ones(self, tmp_path: Path) -> None:
        outcomes = {1: {"f.py::a": "passed"}, 2: {"g.py::b": "passed"}}
        paths = [
            written(tmp_path / f"{env}-{attempt}-{number}.json", a_shard(number, 2, outcomes[number], env, attempt))
            for env in ("a", "b")
            for attempt in (1, 2)
            for number in (1, 2)
        ]
        artifact = archive.classify(paths, "0.1.0")
        assert (len(artifact.cells), len(artifact.tests), artifact.labels[Label.CONSISTENT_GREEN]) == (4, 2, 2)
        assert any("2 shards" in note and "could not show" in note for note in artifact.notes)
        archive.write(artifact, tmp_path / "r.json")
        assert archive.classify([tmp_path / "r.json"], "0.1.0").tests == artifact.tests

    def test_a_shard_that_died_leaves_its_tests_undecided_and_no_verdict(self, tmp_path: Path) -> None:
        paths = []
        for env in ("a", "b"):
            for number in (1, 2):
                dead = env == "b" and number == 2
                status = CellStatus.TIMED_OUT if dead else CellStatus.FINISHED
                outcomes = {} if dead else {f"{number}.py::a": "passed"}
                paths.append(written(tmp_path / f"{env}{number}.json", a_shard(number, 2, outcomes, env, status=status)))
        artifact = archive.classify(paths, "0.1.0")
        assert artifact.verdict.exit_code == 4
        assert {each.nodeid: each.label for each in artifact.tests} == {
            "1.py::a": Label.CONSISTENT_GREEN,
            "2.py::a": Label.UNDECIDED,
        }

    def test_a_missing_shard_is_said_by_the_command_line(self, tmp_path: Path) -> None:
        written(tmp_path / "a.json", a_shard(1, 2, {}))
        said = call(tmp_path, "classify", "a.json")
        assert said.code == 64
        assert "shard 2/2 is in no file" in said.err

    def test_other_packages_are_refused_with_the_files_that_differ(self, tmp_path: Path) -> None:
        written(tmp_path / "a.json", a_cell("a", 1, {"t": "passed"}, probe=a_probe()))
        written(tmp_path / "b.json", a_cell("b", 1, {"t": "passed"}, probe=a_probe(python="3.12.1")))
        said = call(tmp_path, "classify", "a.json", "b.json")
        assert said.code == 64
        assert "python differs (`3.11.2`, `3.12.1`) between `a.json` and `b.json`" in said.err

    def test_zones_that_were_chosen_at_different_moments_are_refused_and_say_how_not_to(self, tmp_path: Path) -> None:
        for number, zone in enumerate(("Asia/Shanghai", "Asia/Tokyo"), start=1):
            cell = a_cell("a", number, {"t": "passed"})
            written(tmp_path / f"{number}.json", cell, environments=(a_record("a", {"timezone": zone}),))
        said = call(tmp_path, "classify", "1.json", "2.json")
        assert said.code == 64
        assert "environment `a`, its timezone" in said.err
        assert "--at MOMENT" in said.err

    @pytest.mark.parametrize(("outcome", "code"), [("passed", 0), ("failed", 4)])
    def test_a_divergence_is_not_judged_where_the_date_changed_between_jobs(
        self, outcome: str, code: int, tmp_path: Path
    ) -> None:
        paths = []
        for env, days in (("a", ("2026-01-02", "2026-01-03")), ("b", ("2026-01-01", "2026-01-02"))):
            for attempt, day in enumerate(days, start=1):
                seen = outcome if (env, attempt) == ("b", 2) else "passed"
                probe = a_far_probe() if env == "a" else a_probe()
                cell = a_cell(env, attempt, {"t": seen}, dates=(Dates(day, f"2026-01-0{attempt}"),), probe=probe)
                paths.append(written(tmp_path / f"{env}{attempt}.json", cell))
        artifact = archive.classify(paths, "0.1.0")
        assert artifact.verdict.exit_code == code
        if code:
            assert "the date changed between the cells: run again `a` attempt 1" in artifact.verdict.line
            assert artifact.tests[0].outcomes["b"] == (Outcome.PASSED, Outcome.FAILED)  # type: ignore[index]  # a name is text

"""What is on disk: whole, strict, and merged only where it belongs together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import msgspec
import pytest

from paritygate import archive
from paritygate.archive import CellFile
from paritygate.errors import UnrecordedError, UsageError
from paritygate.outcomes.artifact import SCHEMA, Artifact, Cause
from paritygate.outcomes.cells import Cell, EnvironmentName, NodeId
from paritygate.outcomes.words import Axis, CauseKind, Label, Outcome, Purpose, VerdictName
from tests.support.builders import (
    a_broken_file,
    a_cell,
    a_far_probe,
    a_finding,
    a_probe,
    a_record,
    a_square,
    a_subject,
    an_artifact,
)

RECORDS = (a_record("a", {"timezone": "Asia/Shanghai"}), a_record("b", {"timezone": "UTC"}))


def written(path: Path, cells: Sequence[Cell], **changes: Any) -> Path:
    file = CellFile(schema=SCHEMA, paritygate="0.1.0", subject=a_subject(), cells=tuple(cells), environments=RECORDS)
    archive.write(msgspec.structs.replace(file, **changes), path)
    return path


class TestReadingAndWriting:
    def test_an_artifact_comes_back_as_it_was(self, tmp_path: Path) -> None:
        cell = a_cell("b", 1, {"t": "failed"}, runs=[a_broken_file("f.py")], probe=a_probe(), excluded={NodeId("g"): "a GPU"})
        artifact = an_artifact(cells=(a_cell("a", 1, {"t": "passed"}), cell), excluded={NodeId("g"): "a GPU"})
        archive.write(artifact, tmp_path / "parity_report.json")
        assert archive.read(tmp_path / "parity_report.json") == artifact

    def test_scripts_find_the_plain_fields_that_are_promised(self, tmp_path: Path) -> None:
        archive.write(an_artifact(), tmp_path / "r.json")
        found = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
        assert (found["schema"], found["verdict"]["name"], found["verdict"]["exit_code"]) == (1, "parity", 0)
        first = found["cells"][0]
        assert [first[key] for key in ("env", "attempt", "seed", "runner", "status", "returncode", "passed")] == [
            "a",
            1,
            101,
            "docker",
            "finished",
            0,
            True,
        ]
        assert found["tests"][0]["outcomes"] == {"a": ["passed", "passed"], "b": ["passed", "passed"]}
        assert (found["tests"][0]["nodeid"], found["tests"][0]["label"], found["tests"][0]["cause"]) == (
            "t",
            "consistent-green",
            None,
        )

    def test_writing_replaces_the_old_file_and_leaves_nothing_beside_it(self, tmp_path: Path) -> None:
        path = tmp_path / "r.json"
        path.write_text("old", encoding="utf-8")
        archive.write(an_artifact(), path)
        assert [each.name for each in tmp_path.iterdir()] == ["r.json"]
        assert path.stat().st_mode & 0o777 == 0o644

    def test_a_file_that_cannot_be_written_leaves_the_old_one(self, tmp_path: Path) -> None:
        path = tmp_path / "r.json"
        path.mkdir()
        with pytest.raises(UnrecordedError, match="cannot write"):
            archive.write(an_artifact(), path)
        unrecorded = archive.record(an_artifact(), path)
        assert unrecorded is not None
        assert "cannot write" in unrecorded.message
        assert [each.name for each in tmp_path.iterdir()] == ["r.json"]

    def test_artifacts_fit_the_schema_that_is_printed(self, tmp_path: Path) -> None:
        schema = json.loads(archive.schema_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        cells = (*a_square({"a": "passed failed"}), a_cell("b", 1, runs=[a_broken_file("f.py")], probe=a_probe()))
        archive.write(an_artifact(cells=cells, tests=(a_finding(cause=Cause(kind=CauseKind.ORDER)),)), tmp_path / "r.json")
        jsonschema.validate(json.loads((tmp_path / "r.json").read_text(encoding="utf-8")), schema)

    def test_the_schema_names_every_word_and_refuses_others(self) -> None:
        schema = archive.schema()
        assert set(schema["$defs"]["Outcome"]["enum"]) == set(Outcome)
        assert set(schema["$defs"]["Label"]["enum"]) == set(Label)
        assert set(schema["$defs"]["VerdictName"]["enum"]) == set(VerdictName)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b" \n", "is no report of paritygate: it is empty"),
            (b"[1]", "is no report of paritygate: expected an object, `{...}`, got an array, `[...]`"),
            (b'{"cells": []}', "is no report of paritygate: `schema` is missing"),
            (b'{"schema": "1"}', "is no report of paritygate: at `schema`: expected a whole number, got a text"),
            (b"\xff\xfe", "is no report of paritygate: line 1: it is not UTF-8, which JSON has to be"),
            (b'{\n "schema": 1', "is no report of paritygate: line 2, column 13: it is not JSON"),
            (b"\xef\xbb\xbf{}", "is no report of paritygate: it is not JSON as programs write it, which begins with `{`"),
            (b'{"schema": 99}', "has schema 99, and this version reads schema 1"),
            (b'{"schema": 1}', "does not fit schema 1: `paritygate` is missing"),
            (
                b'{"schema": 1, "verdict": 3}',
                "does not fit schema 1: at `verdict`: expected an object, `{...}`, got a whole number",
            ),
            (b'{"schema": 1, "cells": [{"env": null}]}', "does not fit schema 1: at `cells[0].env`: expected a text, got `null`"),
            (
                b'{"schema": 1, "verdict": {"name": "fine"}}',
                "does not fit schema 1: at `verdict.name`: `fine` is none of the words that can stand there",
            ),
        ],
    )
    def test_what_is_not_an_artifact_is_refused_with_its_path_and_reason(
        self, content: bytes, message: str, tmp_path: Path
    ) -> None:
        path = tmp_path / "r.json"
        path.write_bytes(content)
        with pytest.raises(UsageError) as caught:
            archive.read(path)
        assert message in str(caught.value)
        assert str(path) in str(caught.value)
        assert "bject missing" not in str(caught.value)
        assert caught.value.hint in {archive.NAMED[Artifact][1], "use the version of paritygate that wrote it"}

    def test_a_cell_file_is_told_from_a_report(self, tmp_path: Path) -> None:
        path = written(tmp_path / "cells.json", [a_cell("a", 1, {"t": "passed"})])
        with pytest.raises(UsageError, match=r"cells.json` holds cells alone, and is no report") as caught:
            archive.read(path)
        assert f"`paritygate classify {path} --report PATH` makes a report" in caught.value.hint

    def test_where_cells_would_do_the_hint_says_so(self, tmp_path: Path) -> None:
        (tmp_path / "r.json").write_text("{}", encoding="utf-8")
        with pytest.raises(UsageError, match="is no report or cell file of paritygate: `schema` is missing") as caught:
            archive.read_cells(tmp_path / "r.json")
        assert "or a cell file" in caught.value.hint

    def test_an_unknown_outcome_is_refused_where_it_stands(self, tmp_path: Path) -> None:
        path = written(tmp_path / "r.json", [a_cell("a", 1, {"t": "passed"})])
        path.write_bytes(path.read_bytes().replace(b'"outcome":"passed"', b'"outcome":"fine"'))
        with pytest.raises(UsageError, match=r"cells\[0\]\.tests|cells\[\.\.\.\]\.tests"):
            archive.read_cells(path)

    def test_a_missing_file_is_a_usage_error(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="cannot read"):
            archive.read(tmp_path / "none.json")

    def test_keys_of_later_versions_are_passed_over(self, tmp_path: Path) -> None:
        path = written(tmp_path / "r.json", [a_cell("a", 1, {"t": "passed"})])
        path.write_bytes(path.read_bytes().replace(b'{"schema":1', b'{"new":{"x":1},"schema":1', 1))
        assert archive.read_cells(path).cells[0].env == "a"


class TestMerging:
    def test_environments_that_ran_apart_are_classified_together(self, tmp_path: Path) -> None:
        far, near = a_far_probe(), a_probe()
        one = [msgspec.structs.replace(cell, probe=far) for cell in a_square({"a": "passed passed"})]
        two = [msgspec.structs.replace(cell, probe=near) for cell in a_square({"b": "passed passed"})]
        paths = [
            written(tmp_path / "1.json", one, environments=RECORDS[:1]),
            written(tmp_path / "2.json", two, environments=RECORDS[1:]),
        ]
        artifact = archive.classify(paths, "0.1.0")
        assert (artifact.verdict.exit_code, artifact.verdict.line) == (0, "parity over timezone: 1 test in 4 cells")

    def test_cells_that_measured_nothing_are_no_parity(self, tmp_path: Path) -> None:
        artifact = archive.classify(
            [written(tmp_path / "1.json", a_square({"a": "passed passed", "b": "passed passed"}))], "0.1.0"
        )
        assert artifact.verdict.exit_code == 4
        assert artifact.verdict.line == (
            "no-verdict: all is green and equal, and of no axis is it known that it varied "
            "(timezone: of `a`, `b` as asked for, not measured)"
        )
        assert artifact.verdict.unmeasured == (Axis.TIMEZONE,)
        assert "`b` attempt 2 has no probe" in artifact.notes

    def test_a_cell_that_is_in_two_files_counts_once(self, tmp_path: Path) -> None:
        one = written(tmp_path / "1.json", a_square({"a": "passed passed", "b": "passed passed"}))
        two = written(tmp_path / "2.json", a_square({"b": "passed passed"}))
        assert len(archive.classify([one, two, one], "0.1.0").cells) == 4

    def test_further_cells_of_an_environment_are_further_attempts(self, tmp_path: Path) -> None:
        one = written(tmp_path / "1.json", a_square({"a": "passed passed", "b": "passed passed"}))
        two = written(tmp_path / "2.json", a_square({"b": "failed passed"}))
        artifact = archive.classify([one, two], "0.1.0")
        assert [(cell.env, cell.attempt) for cell in artifact.cells] == [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("b", 3)]
        assert artifact.tests[0].outcomes[EnvironmentName("b")] == (Outcome.PASSED, Outcome.PASSED, Outcome.FAILED)
        assert artifact.verdict.exit_code == 2

    @pytest.mark.parametrize(
        ("changes", "what"),
        [
            ({"paritygate": "0.2.0"}, "the version of paritygate"),
            ({"subject": a_subject(selection=("tests/unit",))}, "the selection"),
            ({"subject": a_subject(trees={"dirty": "d2", "clean": "c1"})}, "the dirty tree"),
            ({"subject": a_subject(trees={}, commit="beef")}, "the commit"),
            ({"environments": (a_record("a", {"timezone": "Asia/Tokyo"}),)}, "environment `a`, its timezone"),
        ],
    )
    def test_files_that_do_not_belong_together_are_refused(self, changes: dict[str, Any], what: str, tmp_path: Path) -> None:
        one = written(tmp_path / "1.json", a_square({"a": "passed passed"}))
        two = written(tmp_path / "2.json", a_square({"b": "passed passed"}), **changes)
        with pytest.raises(UsageError) as caught:
            archive.classify([one, two], "0.1.0")
        assert str(caught.value).startswith(f"{what} is not the same in `{one}` and `{two}`: ")
        assert caught.value.hint

    def test_one_tree_may_be_known_to_one_file_only(self, tmp_path: Path) -> None:
        one = written(tmp_path / "1.json", a_square({"a": "passed passed"}), subject=a_subject(trees={"dirty": "d1"}))
        two = written(tmp_path / "2.json", a_square({"b": "passed passed"}), subject=a_subject(trees={"clean": "c1"}))
        assert archive.classify([one, two], "0.1.0").subject.trees == {"dirty": "d1", "clean": "c1"}


class TestClassifying:
    def test_environments_without_a_record_are_described_by_their_probes(self, tmp_path: Path) -> None:
        cells = [a_cell("a", n, {"t": "passed"}, probe=a_far_probe()) for n in (1, 2)] + [
            a_cell("b", n, {"t": "passed"}, probe=a_probe()) for n in (1, 2)
        ]
        artifact = archive.classify([written(tmp_path / "1.json", cells, environments=())], "0.1.0")
        assert artifact.verdict.line == "parity over timezone: 1 test in 4 cells"

    def test_a_coupling_without_further_attempts_says_so(self, tmp_path: Path) -> None:
        artifact = archive.classify(
            [written(tmp_path / "1.json", a_square({"a": "passed passed", "b": "failed failed"}))], "0.1.0"
        )
        assert (artifact.tests[0].label, artifact.verdict.exit_code) == (Label.COUPLING, 3)
        assert artifact.tests[0].note == "not confirmed: the files hold no further attempts"

    @pytest.mark.parametrize(("contrary", "label", "confirmed"), [("failed", "coupling", 10), ("passed", "nondeterminism", 0)])
    def test_further_attempts_in_the_file_confirm_or_overturn(
        self, contrary: str, label: str, confirmed: int, tmp_path: Path
    ) -> None:
        words = {"a": "passed", "b": "failed"}
        cells = [a_cell(env, n, {"t": word}) for env, word in words.items() for n in (1, 2)]
        cells += [
            a_cell(env, n, {"t": contrary if (env, n) == ("b", 7) else word}, purpose=Purpose.CONFIRM)
            for env, word in words.items()
            for n in range(3, 8)
        ]
        (found,) = archive.classify([written(tmp_path / "1.json", cells)], "0.1.0").tests
        assert (found.label, found.confirmed) == (label, confirmed)

    def test_an_order_check_that_was_made_stays(self, tmp_path: Path) -> None:
        cause = Cause(kind=CauseKind.ORDER, detail="seen twice")
        stored = a_finding("t", "nondeterminism", {"a": "passed passed", "b": "failed failed"}, cause=cause)
        report = an_artifact(cells=a_square({"a": "passed passed", "b": "failed failed"}), tests=(stored,))
        archive.write(report, tmp_path / "r.json")
        (found,) = archive.classify([tmp_path / "r.json"], "0.1.0").tests
        assert msgspec.structs.replace(found, sides=()) == stored

    @pytest.mark.parametrize("confirmed", [10, 8])
    def test_the_cause_of_a_coupling_stays_where_the_cells_confirm_the_same(self, confirmed: int, tmp_path: Path) -> None:
        words = {"a": "passed", "b": "failed"}
        cells = [
            a_cell(env, n, {"t": word}, purpose=Purpose.GATE if n < 3 else Purpose.CONFIRM)
            for env, word in words.items()
            for n in range(1, 8)
        ]
        hybrid = a_cell("a+timezone", 1, {"t": "failed"}, purpose=Purpose.HYBRID)
        cause = Cause(kind=CauseKind.AXIS, axes=(Axis.TIMEZONE,), detail="seen twice")
        outcomes = {"a": "passed passed", "b": "failed failed"}
        stored = a_finding("t", "coupling", outcomes, cause=cause, confirmed=confirmed)
        archive.write(an_artifact(cells=(*cells, hybrid), tests=(stored,)), tmp_path / "r.json")
        artifact = archive.classify([tmp_path / "r.json"], "0.1.0")
        assert (artifact.tests[0].cause, artifact.cells[-1]) == (cause if confirmed == 10 else None, hybrid)

    def test_excluded_tests_stay_listed(self, tmp_path: Path) -> None:
        cells = [a_cell(env, 1, {"t": "passed"}, excluded={NodeId("g"): "needs a GPU"}) for env in "ab"]
        artifact = archive.classify([written(tmp_path / "1.json", cells)], "0.1.0")
        assert (artifact.excluded, artifact.labels[Label.EXCLUDED]) == ({"g": "needs a GPU"}, 1)

"""`paritygate verify` through the real command line: every claim of a report that was changed by hand is named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from paritygate import archive
from paritygate.outcomes.artifact import Artifact, Material
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.words import Label, Purpose, Worktree
from paritygate.snapshot import survey, tree
from tests.support.builders import a_cell, an_artifact, an_environment, gate_plans
from tests.support.command_line import Said, call, commit
from tests.support.rich_artifact import CURRENCY, FLAKY, HEADER, TODAY, TOTAL
from tests.support.samples import clean_environment

Edit = Callable[[dict[str, Any]], None]
MATCHES = "the report matches\n"


def lines(said: Said) -> dict[str, str]:
    """Read the items: what was checked, and how it went."""
    items = [line for line in said.out.splitlines() if not line.startswith(" ")]
    return {line[13:].split("  ")[0].strip(): line[:11].strip() for line in items}


def edited(path: Path, edit: Edit) -> Said:
    """Change a report by hand, and verify it against its cells."""
    content = json.loads(path.read_text(encoding="utf-8"))
    edit(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    return call(path.parent, "verify", path.name, "--without-checkout")


def finding(content: dict[str, Any], nodeid: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in content["tests"] if each["nodeid"] == nodeid)
    return found


def test_an_honest_report_matches_whatever_its_verdict(written: Path) -> None:
    said = call(written.parent, "verify", written.name, "--without-checkout")
    assert (said.code, said.err) == (0, MATCHES)
    derived = ("schema", "cells", "labels", "causes", "sides", "counts", "axes", "verdict")
    assert lines(said) == dict.fromkeys(derived, "matches") | {"other causes": "not checked", "checkout": "not checked"}


def set_verdict(content: dict[str, Any]) -> None:
    content["verdict"] |= {"name": "parity", "exit_code": 0, "reasons": []}


def set_label(content: dict[str, Any]) -> None:
    finding(content, TOTAL)["label"] = "consistent-green"


def set_outcomes(content: dict[str, Any]) -> None:
    finding(content, TODAY)["outcomes"]["local-like"] = ["passed", "passed"]


def set_confirmed(content: dict[str, Any]) -> None:
    finding(content, HEADER)["confirmed"] = 20


def drop_test(content: dict[str, Any]) -> None:
    content["tests"] = [each for each in content["tests"] if each["nodeid"] != CURRENCY]


def add_test(content: dict[str, Any]) -> None:
    content["tests"].append(finding(content, TOTAL) | {"nodeid": "tests/test_made_up.py::test_it"})


def list_twice(content: dict[str, Any]) -> None:
    content["tests"].append(finding(content, TOTAL))


def set_counts(content: dict[str, Any]) -> None:
    content["labels"]["coupling"] = 0


def drop_exclusion(content: dict[str, Any]) -> None:
    content["excluded"] = {}


def set_message(content: dict[str, Any]) -> None:
    finding(content, TODAY)["sides"][0]["message"] = "something harmless"


def set_cause(content: dict[str, Any]) -> None:
    finding(content, TODAY)["cause"] |= {"axes": ["locale"], "ways": [["locale"]]}


def set_cause_that_was_equal(content: dict[str, Any]) -> None:
    finding(content, TODAY)["cause"] |= {"axes": ["umask"], "ways": [["umask"]]}


def set_cause_beside_what_was_shown(content: dict[str, Any]) -> None:
    finding(content, TODAY)["cause"] |= {"axes": ["locale"]}


def set_line(content: dict[str, Any]) -> None:
    content["verdict"]["line"] = "parity over everything: merge it"


def unflip(content: dict[str, Any]) -> None:
    mixed = next(cell for cell in content["cells"] if cell["env"] == "server-like+timezone")
    mixed["tests"][0]["outcome"] = "passed"


def set_axes(content: dict[str, Any]) -> None:
    content["axes"] = [{"axis": "umask", "varied": True}, *content["axes"][:-1]]


def hide_axis(content: dict[str, Any]) -> None:
    content["axes"][0] = {"axis": "timezone", "varied": False}


def set_passed(content: dict[str, Any]) -> None:
    content["cells"][0]["passed"] = True


def other_tree(content: dict[str, Any]) -> None:
    content["cells"][2]["probe"]["sentinel"] = "f" * 64


def unfreeze_nothing(content: dict[str, Any]) -> None:
    content["freezes"][CURRENCY] = content["freezes"][FLAKY] | {"state": "let-through"}
    content["verdict"]["reasons"] = [each for each in content["verdict"]["reasons"] if "inside one environment" not in each]
    content["verdict"] |= {"name": "coupling", "exit_code": 3}


def set_selection(content: dict[str, Any]) -> None:
    content["subject"]["selection"] = ["tests/test_sums.py"]


def add_field(content: dict[str, Any]) -> None:
    content["cells"][1]["tests"][0]["approved"] = "yes"


@pytest.mark.parametrize(
    ("edit", "item", "line"),
    [
        (set_verdict, "verdict", "name: `nondeterminism` by the labels, `parity` in the report"),
        (set_label, "labels", f"`{TOTAL}` is `consistent-red` by its cells, `consistent-green` in the report"),
        (set_outcomes, "labels", f"`{TODAY}`: the cells have local-like failed failed | server-like passed passed, the report"),
        (set_confirmed, "labels", f"`{HEADER}` is confirmed by 10 further attempts, by 20 in the report"),
        (drop_test, "labels", f"`{CURRENCY}` is in the cells, and not among the tests"),
        (add_test, "labels", "`tests/test_made_up.py::test_it` is in no cell"),
        (list_twice, "labels", "1 test more than once in the list"),
        (set_counts, "counts", "coupling: 4 tests, 0 in the report"),
        (drop_exclusion, "counts", "the cells exclude 1 test, the report 0"),
        (set_message, "sides", f"`{TODAY}`: its sides are not what its cells have recorded"),
        (set_cause, "causes", f"`{TODAY}`: no cell has run it with locale alone"),
        (set_cause_that_was_equal, "causes", f"`{TODAY}`: umask did not vary where it differs"),
        (set_cause_beside_what_was_shown, "causes", f"`{TODAY}`: locale is named, and what was shown is timezone"),
        (set_line, "verdict", "line: `nondeterminism: "),
        (unflip, "causes", f"`{TODAY}`: with timezone alone it was passed (1), failed (1), which is no flip"),
        (set_axes, "axes", "umask did not vary: `022` everywhere"),
        (hide_axis, "axes", "timezone varied by the cells, and the report does not say so"),
        (set_passed, "cells", "`local-like` attempt 1 says that it passed, and it holds red tests"),
        (other_tree, "cells", "`server-like` attempt 1 ran the tree `ffffffffffff`, and the report is about `5be1d0ffb1c0`"),
        (unfreeze_nothing, "verdict", "name: `nondeterminism` by the labels, `coupling` in the report"),
        (
            set_selection,
            "cells",
            "the cells were planned for `tests -m not slow`, and the report says that `tests/test_sums",
        ),
        (add_field, "schema", "`$.cells[].tests[].approved` is no field of a report"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_what_was_changed_by_hand_is_named(written: Path, edit: Edit, item: str, line: str) -> None:
    said = edited(written, edit)
    assert said.code == 1
    assert lines(said)[item] == "differs"
    assert f"\n  {line}" in said.out
    assert item in said.err


def test_a_report_of_another_version_is_weighed_by_the_rules_of_this_one(written: Path) -> None:
    def other_version(content: dict[str, Any]) -> None:
        content |= {"paritygate": "9.0.0", "news": 1}

    said = edited(written, other_version)
    assert said.code == 0
    assert "written by paritygate 9.0.0; what follows is derived by the rules of" in said.out


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"schema": 99}', b"\xff"])
def test_what_is_no_report_is_a_usage_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "r.json").write_bytes(content)
    assert call(tmp_path, "verify", "r.json").code == 64


def replayed(env: str, outcome: str) -> Cell:
    return a_cell(env, 9, {"t": outcome}, purpose=Purpose.HYBRID)


def decided(outcomes: Mapping[str, str], attempts: range, purpose: Purpose) -> tuple[Cell, ...]:
    return tuple(a_cell(env, attempt, {"t": outcomes[env]}, purpose=purpose) for env in outcomes for attempt in attempts)


@pytest.mark.parametrize(
    ("label", "further", "differs"),
    [
        ("nondeterminism", (replayed("a", "failed"),), False),
        ("nondeterminism", (replayed("a", "passed"),), True),
        ("nondeterminism", (), True),
        ("undecided", (), True),
        ("consistent-green", (replayed("a", "failed"),), True),
    ],
)
def test_a_coupling_is_called_something_else_only_where_a_cell_bears_it_out(
    tmp_path: Path, label: str, further: tuple[Cell, ...], *, differs: bool
) -> None:
    outcomes = {"a": "passed", "b": "failed"}
    cells = (*decided(outcomes, range(1, 3), Purpose.GATE), *decided(outcomes, range(3, 8), Purpose.CONFIRM))
    path = tmp_path / "r.json"
    archive.write(an_artifact(cells=cells), path)
    made = archive.classify([path], "0.1.0")
    named = msgspec.structs.replace(made.tests[0], label=Label(label))
    archive.write(msgspec.structs.replace(made, cells=(*made.cells, *further), tests=(named,)), path)
    said = call(tmp_path, "verify", "r.json", "--without-checkout")
    assert (lines(said)["labels"] == "differs") is differs


def a_project(folder: Path) -> Path:
    """Make a repository with two green tests and a lock, and a report that is about it."""
    (folder / "tests").mkdir(parents=True)
    (folder / "tests" / "test_sums.py").write_text("def test_one(): pass\n", encoding="utf-8")
    (folder / ".gitignore").write_text("parity_report.json\n", encoding="utf-8")
    commit(folder, new=True)
    report_on(folder)
    return folder


def report_on(folder: Path, **changes: object) -> None:
    """Write a report about what lies in a folder now."""
    request = survey.Request(project=str(folder), environ=clean_environment())
    trees = tree.take_all(request, (Worktree.DIRTY, Worktree.CLEAN))
    cells = tuple(a_cell(env, attempt, {"tests/test_sums.py::test_one": "passed"}) for env in "ab" for attempt in (1, 2))
    subject = an_artifact().subject
    artifact: Artifact = an_artifact(
        cells=cells,
        subject=msgspec.structs.replace(
            subject,
            commit=trees[Worktree.CLEAN].commit,
            trees={state.value: one.digest for state, one in trees.items()},
            selection=("tests",),
        ),
        material=Material(plans=gate_plans(an_environment("a"), an_environment("b")), images={}),
        **changes,
    )
    path = folder / "parity_report.json"
    archive.write(artifact, path)
    again = archive.classify([path], "0.1.0")
    archive.write(msgspec.structs.replace(again, freezes=artifact.freezes, notes=artifact.notes), path)


def test_a_checkout_as_it_was_tested_matches(tmp_path: Path) -> None:
    said = call(a_project(tmp_path / "shop"), "verify", "parity_report.json")
    assert (said.code, said.err) == (0, MATCHES), said.out
    assert lines(said) == dict.fromkeys(lines(said), "matches")
    assert {"tree dirty", "tree clean", "selection", "ledger", "fixture lock"} <= lines(said).keys()


def test_a_fresh_clone_lacks_what_was_untracked_and_that_is_no_mismatch(tmp_path: Path) -> None:
    project = a_project(tmp_path / "shop")
    (project / "scratch.txt").write_text("mine\n", encoding="utf-8")
    report_on(project)
    assert call(project, "verify", "parity_report.json").code == 0
    (project / "scratch.txt").unlink()
    said = call(project, "verify", "parity_report.json")
    assert said.code == 0
    assert (lines(said)["tree dirty"], lines(said)["tree clean"]) == ("not checked", "matches")


def test_where_the_user_stands_in_no_project_the_reports_own_folder_is_the_checkout(tmp_path: Path) -> None:
    project = a_project(tmp_path / "shop")
    (tmp_path / "elsewhere").mkdir()
    said = call(tmp_path / "elsewhere", "verify", str(project / "parity_report.json"))
    assert (said.code, said.err) == (0, MATCHES), said.out
    assert lines(said)["tree clean"] == "matches"


def test_a_folder_that_can_be_no_checkout_is_not_read(tmp_path: Path) -> None:
    project = a_project(tmp_path / "shop")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with (elsewhere / "endless").open("wb") as stream:
        stream.truncate(1 << 40)
    shutil.copy(project / "parity_report.json", elsewhere)
    said = call(elsewhere, "verify")
    commit_id = archive.read(project / "parity_report.json").subject.commit[:12]
    assert (said.code, said.out) == (64, "")
    assert said.err == (
        f"paritygate: `{elsewhere}` is in no git repository, and the report tells of commit {commit_id}\n"
        "hint: name the project's folder with `--project`, or do without one: `--without-checkout`\n"
    )
    assert call(elsewhere, "verify", "--without-checkout").code == 0
    assert call(elsewhere, "verify", "--project", str(project)).code == 0


def test_a_file_that_was_changed_since_is_another_tree(tmp_path: Path) -> None:
    project = a_project(tmp_path / "shop")
    (project / "tests" / "test_sums.py").write_text("def test_one(): assert False\n", encoding="utf-8")
    said = call(project, "verify", "parity_report.json")
    assert (said.code, lines(said)["tree clean"]) == (1, "differs")
    assert "\n  files differ from what was tested\n" in said.out
    commit(project)
    assert "\n  HEAD is " in call(project, "verify", "parity_report.json").out


def test_a_report_that_is_committed_is_a_part_of_what_it_tells_of(tmp_path: Path) -> None:
    project = a_project(tmp_path / "shop")
    (project / ".gitignore").unlink()
    commit(project)
    said = call(project, "verify", "parity_report.json")
    assert "\n  `parity_report.json` is tracked by git, so that it is a part of the tree that it tells of\n" in said.out


def test_a_test_that_is_gone_is_named(tmp_path: Path) -> None:
    project = a_project(tmp_path / "shop")
    (project / "tests" / "test_sums.py").rename(project / "tests" / "test_products.py")
    commit(project)
    said = call(project, "verify", "parity_report.json")
    assert "\n  `tests/test_sums.py` of tests in the report is not in the tree\n" in said.out


LEDGER = {
    "tests/test_sums.py::test_one": {"owner": "@me", "expires": "2100-01-01", "evidence": "r.json", "reason": "sometimes"},
}


def test_a_ledger_that_the_report_does_not_know_is_named(tmp_path: Path) -> None:
    project = a_project(tmp_path / "shop")
    (project / "paritygate.toml").write_text("freeze-days = 100000\n", encoding="utf-8")
    (project / "tests" / "flake_freeze.json").write_text(json.dumps(LEDGER), encoding="utf-8")
    commit(project)
    report_on(project)
    said = call(project, "verify", "parity_report.json")
    assert lines(said)["ledger"] == "differs"
    assert "`tests/test_sums.py::test_one` is frozen here, and not in the report" in said.out
    report_on(project, notes=("freezes are those of the merge base with `main`, 0123456789ab",))
    assert lines(call(project, "verify", "parity_report.json"))["ledger"] == "not checked"


def test_a_freeze_that_is_over_is_named(tmp_path: Path) -> None:
    project = a_project(tmp_path / "shop")
    entry = {nodeid: fields | {"expires": "2020-01-31"} for nodeid, fields in LEDGER.items()}
    (project / "tests" / "flake_freeze.json").write_text(json.dumps(entry), encoding="utf-8")
    said = call(project, "verify", "parity_report.json")
    assert "the freeze expired on 2020-01-31" in said.out


def test_a_broken_lock_is_named(tmp_path: Path) -> None:
    project = a_project(tmp_path / "shop")
    (project / "tests" / "data").mkdir()
    (project / "tests" / "data" / "prices.json").write_text("{}\n", encoding="utf-8")
    assert call(project, "lock", "--write", "tests/data").code == 0
    commit(project)
    report_on(project)
    assert call(project, "verify", "parity_report.json").code == 0
    (project / "tests" / "data" / "prices.json").write_text("[]\n", encoding="utf-8")
    said = call(project, "verify", "parity_report.json")
    assert (said.code, lines(said)["fixture lock"]) == (1, "differs")
    assert "tests/data/prices.json" in said.out


def test_cells_of_no_environment_are_named(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    artifact = an_artifact(cells=(*an_artifact().cells, a_cell("c", 1, {"t": "passed"}), a_cell("a", 1, {"t": "passed"})))
    archive.write(artifact, path)
    said = call(tmp_path, "verify", "r.json", "--without-checkout")
    assert "`c` attempt 1: there is no such environment" in said.out
    assert "there are 2 cells `a` attempt 1" in said.out

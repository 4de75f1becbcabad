"""A project in which the commands of the documents can be run without an engine, and where those are run that need one."""

from __future__ import annotations

import re
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path

from paritygate import archive
from tests.support.command_line import commit
from tests.support.rich_artifact import FLAKY, rich_artifact
from tests.support.samples import git

HERE = {
    "changed": 0,
    "command server-like 1": 0,
    "freeze add tests/test_api.py::test_retries --owner @team/api --expires 2027-01-31 --reason 'timer, see 42'"
    " --evidence parity_report.json": 0,
    "freeze list": 0,
    "freeze check": 0,
    "freeze extend tests/test_api.py::test_retries --expires 2027-02-28": 0,
    "freeze remove tests/test_api.py::test_retries": 0,
    "freeze prune": 0,
    "hazards": 0,
    "hazards tests --all": 0,
    "hazards --format github": 0,
    "lock --write tests/data": 0,
    "lock --check": 0,
    "report parity_report.json": 0,
    "report parity_report.json --format github": 0,
    "report parity_report.json --format junit --output parity_report.xml": 0,
    "report parity_report.json --format markdown": 0,
    "report parity_report.json --format markdown --output parity_report.md": 0,
    "report --html --output report.html": 0,
    "report parity_report.json --html --output parity_report.html": 0,
    "report parity_report.json --json": 0,
    "schema": 0,
    "verify": 1,
    "verify parity_report.json": 1,  # the report is about another project
}
"""What is run without an engine, and how it ends; quoted as `shlex.join` does."""

PATCH = "tests/documents/test_commands.py::test_a_patch_is_judged_by_the_tests_that_can_see_it"
ELSEWHERE = {
    "cell server-like 2 --shard 1/3 --at 2026-11-30T08:00:00Z --out cell.json": (
        "tests/docker/test_one_cell.py::test_cells_that_run_apart_come_to_one_verdict"
    ),
    "classify 'cells/*/cell.json' --report parity_report.json": (
        "tests/docker/test_one_cell.py::test_cells_that_run_apart_come_to_one_verdict"
    ),
    "classify local.json server-like-1.json server-like-2.json": (
        "tests/ingest/test_command_line.py::test_a_pasted_environment_is_judged_beside_one_that_ran_here"
    ),
    "doctor": "tests/docker/test_documents.py::test_the_commands_about_the_machine",
    "engine": "tests/docker/test_documents.py::test_the_commands_about_the_machine",
    "explain": "tests/reports/test_report_command.py::test_the_last_report_need_not_be_named",
    "explain parity_report.json": ("tests/docker/test_replay.py::test_causes_are_found_afterwards_and_written_where_it_is_asked"),
    "images build": "tests/docker/test_project_images.py::test_the_images_of_a_project_are_made_and_said_and_then_found",
    "images list": (
        "tests/docker/test_project_images.py::test_the_images_of_one_project_are_listed_and_removed_without_those_of_others"
    ),
    "images prune": (
        "tests/docker/test_project_images.py::test_the_images_of_one_project_are_listed_and_removed_without_those_of_others"
    ),
    "ingest --env server-like --attempt 1 --seed SEED shown.txt": (
        "tests/ingest/test_command_line.py::test_what_the_printed_command_shows_and_writes_is_understood_in_whole"
    ),
    "init": "tests/unit/test_init.py::test_a_pyproject_gets_a_table_at_its_end_and_keeps_every_byte",
    "run --plan": "tests/unit/test_plan.py::test_nothing_is_written_and_nothing_of_the_project_runs",
    "selfcheck": "tests/unit/test_selfcheck.py::test_the_gate_finds_what_is_planted",
    "repro parity_report.json NODEID": (
        "tests/docker/test_replay.py::test_a_test_fails_once_more_in_its_cell_and_passes_once_more_in_the_other"
    ),
    "repro parity_report.json NODEID --print": (
        "tests/docker/test_replay.py::test_the_printed_line_runs_the_test_without_paritygate_on_the_same_filesystem"
    ),
    "repro parity_report.json NODEID --shell": (
        "tests/docker/test_replay.py::test_a_shell_in_a_cell_has_its_user_its_zone_and_its_files"
    ),
    "run --changed --quiet --json": PATCH,
    "run --changed": PATCH,
    "run --changed=origin/main tests/unit": PATCH,
    "run tests/unit -k ledger": PATCH,
    "run --runner host": "tests/host/test_samples.py::test_host_says_of_a_sample_what_an_engine_says",
    "run tests/unit": "tests/docker/test_bad_ends.py::test_quiet_leaves_only_the_answer",
}
"""What takes an engine, or more than a moment, and the test that runs it."""

DAYS = {"2027-01-31": timedelta(days=30), "2027-02-28": timedelta(days=60)}
"""How far ahead the days of the documents are for whoever types them; written out they would be over some day."""

FILES = {
    "paritygate.toml": (
        "runner = 'host'\nattempts = 1\n"
        "[environments.local-like]\ncase_sensitive = 'any'\n"
        "[environments.server-like]\ncase_sensitive = 'any'\n"
    ),
    "tests/conftest.py": "",
    "tests/data/ledger.json": "[1, 2]\n",
    "tests/test_api.py": "def test_retries():\n    assert True\n",
    "tests/unit/test_ledger.py": "from shop import TOTAL\n\n\ndef test_the_ledger_is_balanced():\n    assert TOTAL == 3\n",
    "shop.py": "TOTAL = 2\n",
    ".gitignore": "__pycache__/\n.paritygate/\n*.json\n!tests/data/*.json\n*.txt\n",
}


def prepare(folder: Path) -> Path:
    """Lay out a project on a branch that changes something, with a report and whatever else the commands are given."""
    project = folder / "shop"
    for name, content in FILES.items():
        place = project / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content, encoding="utf-8")
    commit(project, new=True)
    git(project, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(project, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    git(project, "switch", "--quiet", "--create", "patch")
    (project / "shop.py").write_text("TOTAL = 3\n", encoding="utf-8")
    commit(project)
    archive.write(rich_artifact(folder), project / "parity_report.json")
    for name in ("cells/a/cell.json", "local.json", "server-like-1.json", "server-like-2.json", "shown.txt"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_bytes(b"")
    return project


def fitted(line: str) -> list[str]:
    """Make a command of the documents one that can be given now: with values in place of words, patterns and days."""
    filled = line.replace("NODEID", FLAKY).replace("SEED", "7")
    dated = re.sub(r"2027-\d\d-\d\d", lambda day: f"{datetime.now(UTC) + DAYS[day[0]]:%Y-%m-%d}", filled)
    return [each for word in shlex.split(dated) for each in ([*map(str, sorted(Path().glob(word)))] if "*" in word else [word])]

"""Every list that stands both in a document and in the program says the same in both."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import msgspec
import pytest

from paritygate.axes import AUTO
from paritygate.config import file as config_file
from paritygate.config.settings import LOCAL_LIKE, SERVER_LIKE, Settings
from paritygate.images import dependencies
from paritygate.outcomes.hazards import HazardKind
from paritygate.outcomes.words import Axis, CauseKind, CellStatus, ExitCode, Label, VerdictName
from paritygate.reports.advice import AFTER_LABEL, AFTER_STATUS
from paritygate.reports.brief import Brief
from paritygate.reports.formats import Format
from tests.support.documents import CONTRIBUTING, DOCS, DOCUMENTS, README, ROOT, Block, blocks, table, words
from tests.unit.test_structure import ROWS

TOML = [block for document in DOCUMENTS for block in blocks(document, "toml")]
KEPT_FOR_LATER = {Axis.IMAGE}
FORMATS_OF_OTHERS = {"text"}
DEFAULT = {Axis.TIMEZONE, Axis.LOCALE, Axis.CASE_SENSITIVE, Axis.WORKERS, Axis.WORKTREE}


def first(rows: list[list[str]]) -> list[str]:
    """Give the word of each row's first cell."""
    return [words(row[0])[0] for row in rows]


def test_every_exit_code_is_told_and_no_other() -> None:
    rows = table(README, "exit", "verdict")
    assert [int(code) for row in rows for code in row[0].split(", ")] == sorted(ExitCode)
    named = {words(row[1])[0]: int(row[0]) for row in rows if row[1]}
    assert named == {name.value: ExitCode[name.name].value for name in VerdictName}


def test_every_label_is_told_with_what_to_do() -> None:
    rows = table(DOCS / "verdicts.md", "label")
    assert {words(row[0])[0]: row[2] for row in rows} == {label.value: said for label, said in AFTER_LABEL.items()}
    text = README.read_text(encoding="utf-8")
    assert [label for label in Label if f"`{label}`" not in text] == []
    assert {words(row[-1])[0] for row in table(README, "within local-like")} <= set(Label)


def test_every_end_of_a_cell_is_told_with_what_to_do() -> None:
    rows = table(DOCS / "verdicts.md", "status")
    assert {words(row[0])[0]: row[1] for row in rows} == {status.value: said for status, said in AFTER_STATUS.items()}
    assert first(rows) == [*CellStatus]


def test_every_cause_is_told() -> None:
    assert first(table(DOCS / "verdicts.md", "cause")) == [*CauseKind]


def test_every_axis_is_told_and_which_of_them_vary_by_default() -> None:
    rows = table(DOCS / "environments.md", "axis")
    assert set(first(rows)) == set(Axis) - KEPT_FOR_LATER
    assert {words(row[0])[0] for row in rows if row[2].startswith("yes")} == DEFAULT
    text = (DOCS / "environments.md").read_text(encoding="utf-8")
    assert [axis for axis in KEPT_FOR_LATER if f"`{axis}`" not in text] == []


def test_the_values_by_default_are_those_of_the_settings() -> None:
    rows = {words(row[0])[0]: row[1:] for row in table(README, "axis", "`local-like`")}
    assert set(rows) == DEFAULT
    for column, environment in enumerate((LOCAL_LIKE, SERVER_LIKE)):
        for axis in DEFAULT - {Axis.TIMEZONE}:
            value = getattr(environment, axis.value)
            written = str(value).lower() if isinstance(value, bool) else str(value)
            assert rows[axis][column].lstrip("`").startswith(written), (axis, rows[axis])
    assert LOCAL_LIKE.timezone == AUTO
    assert words(rows[Axis.TIMEZONE][1]) == [SERVER_LIKE.timezone]


def test_every_format_is_told() -> None:
    assert first(table(DOCS / "reports.md", "format")) == [*Format]
    said = {word for document in DOCUMENTS for word in re.findall(r"--format ([a-z]+)", document.read_text(encoding="utf-8"))}
    assert said <= set(Format) | FORMATS_OF_OTHERS


def test_every_kind_of_hazard_is_told() -> None:
    told = [kind for row in table(DOCS / "portable-tests.md", "kind") for kind in words(row[0])]
    assert sorted(told) == sorted(set(HazardKind) - {HazardKind.SUPPRESSION})


def test_the_rooms_stand_in_their_rows() -> None:
    told = {room: int(row[0]) for row in table(DOCS / "architecture.md", "row") for room in words(row[1])}
    assert told == ROWS
    assert {room for row in table(DOCS / "architecture.md", "room") for room in words(row[0])} <= set(ROWS)


def test_what_the_lines_for_agents_hold_is_told() -> None:
    (sentence,) = re.findall(r"The answer is one JSON object: (.*?)\.", (DOCS / "recipes.md").read_text(encoding="utf-8"))
    assert words(sentence) == [field.name for field in msgspec.structs.fields(Brief)]


def test_every_folder_of_tests_is_told_and_every_one_that_is_told_exists() -> None:
    told = {Path(name).name for row in table(CONTRIBUTING, "folder") for name in words(row[0])}
    folders = {path.parent.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").glob("*/**/test_*.py")}
    assert told == folders


@pytest.mark.parametrize("block", TOML, ids=str)
def test_a_configuration_in_a_document_is_a_valid_one(block: Block, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(block.text, encoding="utf-8")
    assert config_file.load(tmp_path).source == "pyproject.toml [tool.paritygate]"


def test_every_path_of_this_repository_in_a_document_exists() -> None:
    pattern = re.compile(
        r"`((?:tests|docs|images|bench)/[\w./-]+|(?:paritygate/)?(?:outcomes|config|runners|guest|hazards|gate)/\w+\.py)`"
    )
    missing = []
    for document in (README, CONTRIBUTING, DOCS / "architecture.md"):
        for name in pattern.findall(document.read_text(encoding="utf-8")):
            places = (ROOT / name, ROOT / "src" / name, ROOT / "src" / "paritygate" / name)
            if not any(place.exists() for place in places):
                missing.append((document.name, name))
    # Of a project that somebody gates, not of this one.
    assert [name for _, name in missing if name not in {"tests/unit", "docs/example/report.json"}] == []


def test_every_variable_in_a_document_is_one_that_something_reads() -> None:
    read = "".join(path.read_text(encoding="utf-8") for path in (*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py")))
    told = {name for document in DOCUMENTS for name in re.findall(r"\b(PARITY(?:GATE)?_[A-Z_]+)\b", document.read_text("utf-8"))}
    assert [name for name in sorted(told) if f'"{name}"' not in read and name != "PARITY_"] == []


def test_every_option_of_pytest_that_the_wheel_brings_is_told() -> None:
    plugin = (ROOT / "src" / "paritygate" / "pytest_plugin.py").read_text(encoding="utf-8")
    options = {
        node.value for node in ast.walk(ast.parse(plugin)) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    text = (DOCS / "locks-and-freezes.md").read_text(encoding="utf-8")
    assert [each for each in options if re.fullmatch(r"--parity-[a-z]+", each) and each not in text] == []


def test_limits_that_are_told_are_those_of_the_settings() -> None:
    text = README.read_text(encoding="utf-8")
    assert f"A test may take {Settings().test_timeout:.0f} seconds and a cell {Settings().cell_timeout:,.0f} unless" in text


def test_every_file_that_names_dependencies_is_told() -> None:
    looked_at = words((dependencies.__doc__ or "").replace("\n", " "))
    files = [name for name in looked_at if "." in name]
    text = README.read_text(encoding="utf-8")
    assert "uv.lock" in files
    assert [name for name in files if f"`{name}`" not in text] == []

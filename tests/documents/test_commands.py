"""Every command in the documents is one that there is: parsed by the real program, and run, here or by the test that is named."""

from __future__ import annotations

import ast
import json
import re
import runpy
import shlex
import tomllib
from pathlib import Path

import click
import pytest

from paritygate import archive
from paritygate.cli.commands import program
from tests.documents.prepared import ELSEWHERE, HERE, fitted, prepare
from tests.documents.tree import every_command, found, options_of
from tests.support.command_line import call
from tests.support.documents import CONTRIBUTING, DOCS, DOCUMENTS, README, ROOT, Block, blocks, commands, spans, table, words

SHELLS = [block for document in DOCUMENTS for block in blocks(document, "sh")]
WRITERS = ("configuration", "commands", "picture")
"""The scripts in `docs`; a test compares what each writes."""
FOREIGN = frozenset(
    (
        *("--cov", "--dist", "--force", "--group", "--maxprocesses", "--max-worker-restart", "--reruns", "--strict-markers"),
        *("-d", "-e", "-n", "-p", "-s", "-x"),
    )
)
"""Options of other programs of which the documents for users speak: of pytest and its plugins, git, pip, tox."""
SCRIPTS = frozenset({"--run", "--frobnicate"})
"""Of a script in `docs`, and one that there is not, as its row says."""
FOR_USERS = [path for path in DOCUMENTS if path.name not in {"decisions.md", "casefs.md", "cell-protocol.md"}]
PLUGIN = frozenset({"--parity-pin", "--parity-locks", "--parity-freezes"})


def own(block: Block) -> list[str]:
    """List our commands in a block, each as one line."""
    return [shlex.join(command[1:]) for command in commands(block.text) if Path(command[0]).name == "paritygate"]


def sessions() -> set[str]:
    """List the sessions of this repository's noxfile, and that of the recipe."""
    texts = [(ROOT / "noxfile.py").read_text(encoding="utf-8"), *(each.text for each in blocks(DOCS / "recipes.md", "python"))]
    functions = [node for text in texts for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    return {each.name for each in functions if any("nox.session" in ast.unparse(one) for one in each.decorator_list)}


def test_every_command_in_a_block_is_run_somewhere_and_nothing_else_is_listed() -> None:
    told = {command for block in SHELLS for command in own(block)}
    assert sorted(told ^ (set(HERE) | set(ELSEWHERE))) == []
    assert sorted(set(HERE) & set(ELSEWHERE)) == []


@pytest.mark.parametrize("place", sorted(set(ELSEWHERE.values())))
def test_the_test_that_runs_a_command_exists(place: str) -> None:
    path, _, name = place.partition("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("block", [block for block in SHELLS if own(block)], ids=str)
def test_its_commands_are_taken_by_the_real_parser(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(prepare(tmp_path))
    for line in own(block):
        command, rest = found(fitted(line))
        assert command.make_context("it", rest).command is command


@pytest.mark.parametrize("block", [block for block in SHELLS if set(own(block)) & set(HERE)], ids=str)
def test_its_commands_end_as_they_should(block: Block, tmp_path: Path) -> None:
    project = prepare(tmp_path)
    for line in own(block):
        if line in HERE:
            said = call(project, *fitted(line))
            assert said.code == HERE[line], f"{line}\n{said.out}{said.err}"


def test_a_patch_is_judged_by_the_tests_that_can_see_it(tmp_path: Path) -> None:
    """One gate, on this computer itself, for every way in which the documents ask for one of a patch or of some tests."""
    project = prepare(tmp_path)
    said = call(project, "run", "--changed=origin/main", "tests/unit", "-k", "ledger", "--quiet", "--json")
    assert (said.code, said.err) == (0, "")
    assert json.loads(said.out)["labels"] == {"consistent-green": 1}
    artifact = archive.read(project / "parity_report.json")
    assert [each.nodeid for each in artifact.tests] == ["tests/unit/test_ledger.py::test_the_ledger_is_balanced"]
    assert artifact.changed is not None
    assert artifact.changed.tests == ("tests/unit/test_ledger.py",)


@pytest.mark.parametrize("block", SHELLS, ids=str)
def test_other_programs_are_asked_for_what_there_is(block: Block) -> None:
    for program_name, *rest in commands(block.text):
        match Path(program_name).name, rest:
            case "paritygate", _:
                pass
            case "nox", ["-s", *names]:
                assert set(names[: names.index("--") if "--" in names else None]) <= sessions()
                asked = names[names.index("--") + 1 :] if "--" in names else []
                assert [path for path in asked if "/" in path and not (ROOT / path).exists()] == []
            case "pip", ["install", *packages]:
                extras = {extra for package in packages for extra in re.findall(r"paritygate\[(\w+)\]", package)}
                assert extras <= set(
                    tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
                )
            case "python", [script]:
                assert script in {f"docs/{name}.py" for name in WRITERS}
            case "pytest", paths:
                assert [path for path in paths if not (ROOT / path).exists()] == []
            case "python3", ["-m", "venv", _]:
                pass
            case _:
                pytest.fail(f"nobody knows how to check `{program_name}`")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_a_command_in_a_line_of_text_is_one(document: Path) -> None:
    for span in spans(document):
        if span.startswith("paritygate ") and "COMMAND" not in span:
            plain = [word.strip("[]") for word in span.split(" -- ")[0].split()[1:]]
            command, rest = found([word for word in plain if word != "..."])
            assert {word.partition("=")[0] for word in rest if word.startswith("-")} <= options_of(command), span


@pytest.mark.parametrize("document", FOR_USERS, ids=lambda path: path.name)
def test_an_option_in_a_line_of_text_is_one(document: Path) -> None:
    known = {name for command in every_command() for name in options_of(command)} | FOREIGN | PLUGIN | SCRIPTS
    told = {word.partition("=")[0] for span in spans(document) for word in span.split() if re.fullmatch(r"--?[a-z].*", word)}
    assert sorted(told - known) == []


def test_the_page_of_commands_is_up_to_date() -> None:
    written = (DOCS / "commands.md").read_text(encoding="utf-8")
    assert written == runpy.run_path(str(DOCS / "commands.py"))["render"](), "run `python docs/commands.py`"


def test_every_command_is_on_the_page_of_commands() -> None:
    listed = {name for row in table(DOCS / "commands.md", "command") for name in words(row[0])}
    leaves = {" ".join(filter(None, each)) for each in leaves_of(program)}
    assert listed == leaves


def leaves_of(group: click.Group) -> list[tuple[str, str]]:
    inner = {name: each.commands if isinstance(each, click.Group) else {"": each} for name, each in group.commands.items()}
    return [(name, deeper) for name, those in inner.items() for deeper in those]


def test_the_sessions_that_are_told_are_those_of_the_noxfile() -> None:
    assert {words(row[0])[0] for row in table(CONTRIBUTING, "session")} == sessions()
    assert set(words(ast.get_docstring(ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))) or "")) == sessions()
    named = {name for document in (README, CONTRIBUTING) for name in re.findall(r"nox -s (\w+)", document.read_text("utf-8"))}
    assert named <= sessions()


def test_what_is_wrong_would_be_seen() -> None:
    with pytest.raises(AssertionError, match="there is no command `runn`"):
        found(["runn"])
    command, rest = found(["freeze", "add", "--ownr"])
    assert rest[0] not in options_of(command)

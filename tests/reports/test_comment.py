"""A comment is short, ranked, and says what did not fit."""

from __future__ import annotations

import pytest

from paritygate.outcomes.artifact import Artifact, Cause, FileFact, Finding
from paritygate.outcomes.words import Axis, CauseKind, FileState, Touching
from paritygate.reports import markdown
from paritygate.reports.markdown import fenced, sentence, span
from tests.support.builders import a_cell, a_failure, a_finding, a_run, an_artifact
from tests.support.rich_artifact import FLAKY, HEADER, RETRY, TOTAL


def test_the_worst_comes_first_and_what_is_let_through_last(rich: Artifact) -> None:
    shown = markdown.render(rich, "r.json")
    places = [shown.index(f"<code>{nodeid}</code>") for nodeid in (RETRY, HEADER, TOTAL, FLAKY)]
    assert places == sorted(places)
    assert shown.index("### nondeterminism: frozen, and let through") < places[-1]


def test_thousands_of_tests_stay_within_a_comment_and_the_rest_is_counted() -> None:
    nodeids = [f"tests/test_a.py::test_{number:05}" for number in range(20_000)]
    runs = [a_run(nodeid, "failed", failure=a_failure()) for nodeid in nodeids]
    findings = tuple(a_finding(nodeid, "consistent-red", {"a": "failed"}) for nodeid in nodeids)
    shown = markdown.render(an_artifact(tests=findings, cells=(a_cell("a", 1, runs=runs),)))
    assert markdown.MOST_BYTES * 0.9 < len(shown.encode("utf-8")) <= markdown.MOST_BYTES
    told = shown.count("<details>")
    assert f"**{20_000 - told} more tests did not fit into a comment**" in shown
    assert shown.count("</details>") == told


def test_many_tests_of_one_cause_are_told_once_with_the_files_of_all() -> None:
    def finding(number: int) -> Finding:
        name = f"locale/l{number % 2}.mo"
        facts = {name: FileFact(state=FileState.IGNORED, touched=(Touching.OPENED,))}
        cause = Cause(kind=CauseKind.AXIS, axes=(Axis.WORKTREE,), ways=((Axis.WORKTREE,),), files=(name,), file_facts=facts)
        return a_finding(f"tests/test_i18n.py::test[{number:03}]", "coupling", {"a": "passed", "b": "skipped"}, cause=cause)

    shown = markdown.render(an_artifact(tests=tuple(map(finding, range(144)))))
    assert shown.count("<details>") == 1
    assert "<code>tests/test_i18n.py::test[000]</code> · worktree · and 143 more</summary>" in shown
    assert "And 143 more like it: `tests/test_i18n.py::test[001]`, " in shown
    assert "`tests/test_i18n.py::test[004]`, ...\n" in shown
    assert [line.partition(",")[0] for line in shown.splitlines() if line.startswith("- file")] == [
        f"- file: `locale/l{number}.mo`" for number in range(2)
    ]
    assert "did not fit" not in shown


def test_a_large_report_has_all_that_fits(large: Artifact) -> None:
    shown = markdown.render(large)
    assert shown.count("<summary><code>") == 78
    assert "did not fit" not in shown


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a", "`a`"),
        ("a`b", "``a`b``"),
        ("`", "`` ` ``"),
        ("``a", "``` ``a ```"),
        (" a ", "`  a  `"),
        ("", "` `"),
        ("a\nb", "`a\\nb`"),
        ("x" * 500, f"`{'x' * 397}...`"),
    ],
)
def test_a_code_span_holds_any_text(text: str, code: str) -> None:
    assert span(text) == code


def test_a_fence_is_longer_than_any_in_it() -> None:
    assert fenced("a\n````\nb") == "`````text\na\n````\nb\n`````"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2 tests differ, first `tests/a.py::b`", "2 tests differ, first `tests/a.py::b`"),
        ("see @octocat", "`see @octocat`"),
        ("see https://evil.example", "`see https://evil.example`"),
        ("case_sensitive (2 of 2)", "case_sensitive (2 of 2)"),
        ("_it_ is", "`_it_ is`"),
        ("1. a", "`1. a`"),
        ("- a", "`- a`"),
        ("an odd ` one", "``an odd ` one``"),
        ("<b>", "`<b>`"),
    ],
)
def test_a_sentence_is_words_and_code(text: str, written: str) -> None:
    assert sentence(text) == written

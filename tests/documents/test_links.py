"""Links lead somewhere, and every document is led to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.documents import DOCS, DOCUMENTS, README, ROOT, anchors, blocks, commands, links, slug, table

LONGEST = 350
"""Lines of the README, which somebody reads to the end who has never heard of it."""


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_and_every_anchor_resolves(document: Path) -> None:
    broken = []
    for link in links(document):
        if link.startswith("https://"):
            continue
        place, _, anchor = link.partition("#")
        target = (document.parent / place).resolve() if place else document
        if not target.exists() or not target.is_relative_to(ROOT) or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_the_readme_is_short_and_leads_to_every_document() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= LONGEST
    assert [path.name for path in DOCUMENTS if path != README and str(path.relative_to(ROOT)) not in links(README)] == []


def test_every_workflow_is_led_to() -> None:
    leading = set(links(DOCS / "recipes.md"))
    assert [path.name for path in (DOCS / "workflows").iterdir() if f"workflows/{path.name}" not in leading] == []


def test_headings_and_shells_are_understood_as_github_and_a_shell_do(tmp_path: Path) -> None:
    assert slug("`[tool.paritygate.environments.NAME]`".replace("`", "")) == "toolparitygateenvironmentsname"
    assert slug("Locks, freezes, pins") == "locks-freezes-pins"
    page = tmp_path / "page.md"
    page.write_text(
        "# A `b` c\n\n| x | y |\n|---|---|\n| 1 | `2` |\n\n```sh\nA=1 b 'c d' >> \"$E\" && f # g\n```\n", encoding="utf-8"
    )
    assert anchors(page) == {"a-b-c"}
    assert table(page, "x") == [["1", "`2`"]]
    (block,) = blocks(page, "sh")
    assert (block.line, commands(block.text)) == (7, [["b", "c d"], ["f"]])

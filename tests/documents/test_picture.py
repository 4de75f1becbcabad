"""The picture in the README is what the program prints today of a report that it understands, of the project beside it."""

from __future__ import annotations

import re
import runpy
from collections import defaultdict
from xml.etree import ElementTree as ET

from paritygate import archive
from paritygate.outcomes.words import Label
from tests.support.command_line import call
from tests.support.documents import DOCS, README, ROOT

EXAMPLE = DOCS / "example"
SVG = "{http://www.w3.org/2000/svg}"


def drawn() -> list[str]:
    """List the lines in the picture, without blanks, which are drawn as they please."""
    lines: dict[float, list[str]] = defaultdict(list)
    root = ET.parse(DOCS / "picture.svg").getroot()  # noqa: S314  # a file of this repository
    matrix = next(group for group in root.iter(f"{SVG}g") if group.get("class") == "paritygate-matrix")
    for text in matrix.iter(f"{SVG}text"):
        lines[float(text.attrib["y"])].append("".join((text.text or "").split()))
    return [found for _, words in sorted(lines.items()) if (found := "".join(words))]


def test_the_picture_says_what_the_program_says() -> None:
    said = runpy.run_path(str(DOCS / "picture.py"))["shown"]().plain
    assert "".join(drawn()) == "".join(said.split()), "run `python docs/picture.py`"


def test_the_picture_needs_no_network() -> None:
    text = (DOCS / "picture.svg").read_text(encoding="utf-8").replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "http" not in text
    assert "@import" not in text


def test_the_report_behind_it_is_one_of_the_project_beside_it() -> None:
    artifact = archive.read(EXAMPLE / "report.json")
    couplings = [finding for finding in artifact.tests if finding.label is Label.COUPLING]
    assert len(couplings) == 2
    for finding in couplings:
        for side in finding.sides:
            if side.source:
                path = EXAMPLE / finding.nodeid.partition("::")[0]
                assert path.read_text(encoding="utf-8").splitlines()[side.line - 1].strip() == side.source


def test_the_report_behind_it_holds_to_its_own_cells() -> None:
    said = call(ROOT, "verify", str(EXAMPLE / "report.json"), "--without-checkout")
    assert said.code == 0, said.out


def test_the_readme_shows_it_with_words_for_those_who_do_not_see_it() -> None:
    (alt,) = re.findall(r"!\[([^\]]+)\]\(docs/picture.svg\)", README.read_text(encoding="utf-8"))
    assert len(alt.split()) > 5

"""The documents as a reader has them: headings, links, tables, code; all of it as GitHub understands Markdown."""

from __future__ import annotations

import functools
import itertools
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import msgspec
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
DOCUMENTS = (README, CONTRIBUTING, ROOT / "CHANGELOG.md", *sorted(DOCS.glob("*.md")))

_SPAN = re.compile(r"`([^`\n]+)`")
_ASSIGNMENT = re.compile(r"[A-Z_]+=.*")


class Block(msgspec.Struct, frozen=True):
    """A block of code: where it begins, its language, and what is in it."""

    document: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        """Say where it is, as a test's id."""
        return f"{self.document.name}:{self.line}"


@functools.cache
def tokens(document: Path) -> list[Token]:
    """Parse a document, each once."""
    return MarkdownIt("commonmark").enable("table").parse(document.read_text(encoding="utf-8"))


def blocks(document: Path, *languages: str) -> list[Block]:
    """List the blocks of code in these languages."""
    fences = (token for token in tokens(document) if token.type == "fence")
    return [
        Block(document, (token.map or [0])[0] + 1, token.info, token.content)
        for token in fences
        if not languages or token.info in languages
    ]


def slug(heading: str) -> str:
    """Say by what name GitHub links a heading."""
    plain = re.sub(r"[^\w\- ]", "", heading.lower())
    return plain.replace(" ", "-")


def anchors(document: Path) -> set[str]:
    """List the names of all headings."""
    all_tokens = tokens(document)
    headings = (after for before, after in itertools.pairwise(all_tokens) if before.type == "heading_open")
    return {slug("".join(child.content for child in heading.children or ())) for heading in headings}


def links(document: Path) -> list[str]:
    """List where links and pictures lead."""
    inlines = [child for token in tokens(document) for child in token.children or ()]
    leading = [child.attrGet("href") or child.attrGet("src") for child in inlines if child.type in {"link_open", "image"}]
    return [str(each) for each in leading if each]


def table(document: Path, *heads: str) -> list[list[str]]:
    """Give the rows of the one table whose heads begin so."""
    tables = [rows for rows in _tables(document) if rows[0][: len(heads)] == [*heads]]
    (found,) = tables
    return found[1:]


def _tables(document: Path) -> Iterator[list[list[str]]]:
    rows: list[list[str]] = []
    for before, token in zip(all_tokens := tokens(document), all_tokens[1:], strict=False):
        if before.type == "table_open":
            rows = []
        elif before.type == "tr_open":
            rows.append([])
        elif before.type in {"th_open", "td_open"}:
            rows[-1].append(token.content)
        elif before.type == "table_close":
            yield rows


def words(text: str) -> list[str]:
    """List what stands in backticks."""
    return _SPAN.findall(text)


def spans(document: Path) -> list[str]:
    """List what stands in backticks anywhere in a document but in blocks that a shell or Python would run."""
    text = document.read_text(encoding="utf-8")
    return words(re.sub(r"^```(sh|python|toml|ini|yaml|json)\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL))


def commands(script: str) -> list[list[str]]:
    """Split a shell's lines into commands, without comments, assignments and redirections."""
    found: list[list[str]] = []
    for line in script.replace("\\\n", " ").replace("2>&1", "").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        found.extend(_simple(list(lexer)))
    return found


def _simple(all_words: list[str]) -> Iterator[list[str]]:
    command: list[str] = []
    skipping = False
    for word in [*all_words, "&&"]:
        if word in {"&&", "||", "|", ";"}:
            if command:
                yield command
            command = []
        elif skipping or set(word) == {">"}:
            skipping = not skipping
        elif command or not _ASSIGNMENT.fullmatch(word):
            command.append(word)

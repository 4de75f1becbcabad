"""Suppressions: a comment that lets a hazard be, with the reason for it.

`# paritygate: allow[KIND, ...] reason` stands on the line of the hazard or alone on the one above; `allow-file` holds for the
whole file.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator, Sequence

import msgspec

from paritygate.axes import near_miss
from paritygate.hazards.source import Source
from paritygate.outcomes.hazards import HazardKind

_COMMENT = re.compile(r"#\s*paritygate\s*:\s*(?P<verb>[\w-]+)\s*(?:\[(?P<kinds>[^\]]*)\])?\s*(?P<reason>.*)", re.DOTALL)
_VERBS = frozenset({"allow", "allow-file"})
_KINDS = frozenset(HazardKind) - {HazardKind.SUPPRESSION}


class Suppression(msgspec.Struct, frozen=True, kw_only=True):
    """One comment. `covers` are the lines it speaks of, empty for the whole file; `problem` says why it does not count."""

    line: int
    column: int
    kinds: frozenset[str]
    reason: str
    covers: tuple[int, ...]
    problem: str = ""

    def holds(self, kind: HazardKind, lines: Sequence[int]) -> bool:
        """Say whether a hazard that begins or ends on these lines is let be."""
        return not self.problem and kind in self.kinds and (not self.covers or not set(self.covers).isdisjoint(lines))


def read(source: Source) -> tuple[Suppression, ...]:
    """Read the suppressions of a file."""
    return tuple(_comments(source.text))


def _comments(text: str) -> Iterator[Suppression]:
    if "paritygate" not in text:
        return
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return
    for token in tokens:
        said = _COMMENT.match(token.string) if token.type == tokenize.COMMENT else None
        if said is not None:
            alone = not token.line[: token.start[1]].strip()
            yield _suppression(said, token.start, _below(tokens, token) if alone else token.start[0])


def _below(tokens: Sequence[tokenize.TokenInfo], comment: tokenize.TokenInfo) -> int:
    """Find the line of the code that follows a comment."""
    unspoken = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    later = (token.start[0] for token in tokens if token.start > comment.start and token.type not in unspoken)
    return next(later, comment.start[0])


def _suppression(said: re.Match[str], place: tuple[int, int], line: int) -> Suppression:
    kinds = frozenset(each.strip() for each in (said["kinds"] or "").split(",") if each.strip())
    reason = said["reason"].strip(" -:—\t")
    return Suppression(
        line=place[0],
        column=place[1] + 1,
        kinds=kinds,
        reason=reason,
        covers=() if said["verb"] == "allow-file" else (line,),
        problem=_problem(said["verb"], kinds, reason),
    )


def _problem(verb: str, kinds: frozenset[str], reason: str) -> str:
    if verb not in _VERBS:
        return f"`{verb}` is no word for a suppression{near_miss(verb, _VERBS)}"
    if not kinds:
        return "the suppression names no kind of hazard"
    if unknown := sorted(kinds - _KINDS):
        return f"there is no hazard `{unknown[0]}`{near_miss(unknown[0], frozenset(_KINDS))}"
    return "" if reason else "the suppression gives no reason"

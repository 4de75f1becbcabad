"""What a check hands over: a kind, a node, and a few words on it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

from paritygate.hazards.source import Source
from paritygate.outcomes.hazards import HazardKind

LONGEST = 80


class Found(NamedTuple):
    """A hazard before it has a place in words; `sure` where the source alone shows it.

    Of those of a kind that have the same `of`, such as a variable's name, one is said: the first that nobody lets be.
    """

    kind: HazardKind
    node: ast.expr | ast.stmt
    what: str
    sure: bool = True
    of: str = ""


Check = Callable[[Source], Iterator[Found]]


def shown(node: ast.AST) -> str:
    """Show an expression as code, cut where it is long."""
    text = " ".join(ast.unparse(node).split())
    return f"`{text if len(text) <= LONGEST else f'{text[: LONGEST - 3]}...'}`"

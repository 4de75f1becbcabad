"""One source file, parsed: what its names stand for, and what stands around each node. It runs nothing."""

from __future__ import annotations

import ast
import posixpath
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

import msgspec

Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

_TEST_NAME = re.compile(r"test_.*|.*_tests?|tests?")
_TEST_FOLDERS = frozenset({"test", "tests", "testing"})


class Role(StrEnum):
    """What a file is there for."""

    TEST = "test"
    CONFTEST = "conftest"
    PACKAGE = "package"


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed file.

    `path` is relative to the project. `nodes` are all of the tree, from the top down. `names` says for each imported name what it
    stands for, `constants` for each name that the module gives one constant, and never another value, which.
    """

    path: str
    role: Role
    text: str
    tree: ast.Module
    nodes: tuple[ast.AST, ...]
    names: Mapping[str, str]
    constants: Mapping[str, object]
    parents: Mapping[ast.AST, ast.AST]

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Walk from a node's parent up to the module."""
        current = self.parents.get(node)
        while current is not None:
            yield current
            current = self.parents.get(current)

    def function_of(self, node: ast.AST) -> Function | None:
        """Find the function whose body a node is in, past lambdas; decorators and defaults belong to what is outside."""
        inner = node
        for outer in self.above(node):
            if isinstance(outer, Function) and any(inner is each for each in outer.body):
                return outer
            inner = outer
        return None

    def defined(self, call: ast.Call) -> Function | None:
        """Find the function at the module's top that a call calls by its name."""
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        return next((each for each in self.tree.body if isinstance(each, Function) and each.name == name), None)

    def meaning(self, node: ast.AST) -> str:
        """Say with its full name what an expression such as `dt.datetime.now` stands for; empty where that is not known.

        Names that nobody imports are taken for builtins unless the module gives them another meaning.
        """
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        return ".".join((self.names.get(node.id, node.id), *reversed(parts)))

    def calls(self) -> Iterator[tuple[ast.Call, str]]:
        """List all calls with what is called, from the top down."""
        found = [node for node in self.nodes if isinstance(node, ast.Call)]
        for node in sorted(found, key=lambda call: (call.lineno, call.col_offset)):
            yield node, self.meaning(node.func)

    def value(self, node: ast.AST | None) -> object:
        """Say which constant an expression is, by itself or by the name of one; None where it is none."""
        if isinstance(node, ast.Constant):
            return node.value
        return self.constants.get(node.id) if isinstance(node, ast.Name) else None


def parse(path: str, text: str) -> Source:
    """Parse a file; raises `SyntaxError`, `ValueError`, `RecursionError` or `MemoryError` where Python cannot."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes and the like are the business of whoever runs the file
        tree = ast.parse(text)
    nodes = tuple(ast.walk(tree))
    parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
    return Source(
        path=path,
        role=role_of(path),
        text=text,
        tree=tree,
        nodes=nodes,
        names=_imported(nodes),
        constants=_constants(tree, nodes),
        parents=parents,
    )


def role_of(path: str) -> Role:
    """Say by its name what a file is there for."""
    *folders, name = path.split("/")
    stem = posixpath.splitext(name)[0]
    if stem == "conftest":
        return Role.CONFTEST
    if _TEST_NAME.fullmatch(stem) or not _TEST_FOLDERS.isdisjoint(folders):
        return Role.TEST
    return Role.PACKAGE


def _imported(nodes: Iterable[ast.AST]) -> dict[str, str]:
    names: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for each in node.names:
                top = each.name.partition(".")[0]
                names[each.asname or top] = each.name if each.asname else top
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
        elif isinstance(node, Function | ast.ClassDef):
            # What the module calls so itself is no builtin.
            names.setdefault(node.name, f".{node.name}")
    return names


def _constants(tree: ast.Module, nodes: Iterable[ast.AST]) -> dict[str, object]:
    given: dict[str, object] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            given |= {each.id: statement.value.value for each in statement.targets if isinstance(each, ast.Name)}
    stores = Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return {name: value for name, value in given.items() if stores[name] == 1}

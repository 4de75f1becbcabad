"""What the mount should do, in Python: a tree in memory whose names fold, or not, and how each operation ends."""

from __future__ import annotations

import errno
import os
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum


def folded(name: str) -> str:
    """Fold as Unicode's canonical caseless match does."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


class Kind(Enum):
    FILE = "file"
    FOLDER = "folder"
    LINK = "link"


@dataclass(eq=False)
class Node:
    """A file, folder or symbolic link."""

    kind: Kind
    mode: int
    content: bytes = b""
    links: int = 0
    names: dict[str, tuple[str, Node]] = field(default_factory=dict)


class RefusedError(Exception):
    """An operation ends with an errno."""

    def __init__(self, number: int) -> None:
        super().__init__(errno.errorcode[number])
        self.number = number


@dataclass
class Model:
    """The tree, and the operations on it; paths are tuples of names."""

    folding: bool
    root: Node = field(default_factory=lambda: Node(Kind.FOLDER, 0o755))

    def key(self, name: str) -> str:
        return folded(name) if self.folding else name

    def folder_of(self, path: tuple[str, ...]) -> Node:
        """Find the folder that a path's last name is in; every link in this model dangles."""
        folder = self.root
        for name in path[:-1]:
            found = self.get(folder, name)
            if found is None or found.kind is Kind.LINK:
                raise RefusedError(errno.ENOENT)
            if found.kind is Kind.FILE:
                raise RefusedError(errno.ENOTDIR)
            folder = found
        return folder

    def get(self, folder: Node, name: str) -> Node | None:
        held = folder.names.get(self.key(name))
        return held[1] if held else None

    def find(self, path: tuple[str, ...]) -> Node:
        node = self.get(self.folder_of(path), path[-1])
        if node is None:
            raise RefusedError(errno.ENOENT)
        return node

    def put(self, folder: Node, name: str, node: Node) -> None:
        folder.names[self.key(name)] = (name, node)
        node.links += 1

    def take(self, folder: Node, name: str) -> None:
        _, node = folder.names.pop(self.key(name))
        node.links -= 1

    def make(self, path: tuple[str, ...], node: Node) -> None:
        """Make a folder, link or new file."""
        folder = self.folder_of(path)
        if self.get(folder, path[-1]) is not None:
            raise RefusedError(errno.EEXIST)
        self.put(folder, path[-1], node)

    def opened(self, path: tuple[str, ...], *, create: bool) -> Node:
        """Open a file to write to it, and not through a link."""
        folder = self.folder_of(path)
        node = self.get(folder, path[-1])
        if node is None and create:
            node = Node(Kind.FILE, 0o644)
            self.put(folder, path[-1], node)
        if node is None:
            raise RefusedError(errno.ENOENT)
        if node.kind is not Kind.FILE:
            raise RefusedError(errno.EISDIR if node.kind is Kind.FOLDER else errno.ELOOP)
        return node

    def unlink(self, path: tuple[str, ...]) -> None:
        if self.find(path).kind is Kind.FOLDER:
            raise RefusedError(errno.EISDIR)
        self.take(self.folder_of(path), path[-1])

    def rmdir(self, path: tuple[str, ...]) -> None:
        node = self.find(path)
        if node.kind is not Kind.FOLDER:
            raise RefusedError(errno.ENOTDIR)
        if node.names:
            raise RefusedError(errno.ENOTEMPTY)
        self.take(self.folder_of(path), path[-1])

    def link(self, old: tuple[str, ...], new: tuple[str, ...]) -> None:
        node = self.find(old)
        folder = self.folder_of(new)
        if self.get(folder, new[-1]) is not None:
            raise RefusedError(errno.EEXIST)
        if node.kind is Kind.FOLDER:
            raise RefusedError(errno.EPERM)
        self.put(folder, new[-1], node)

    def below(self, node: Node) -> Iterator[Node]:
        """Walk a node and everything in it."""
        waiting = [node]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += [inner for _, inner in node.names.values()]

    def contains(self, node: Node, other: Node) -> bool:
        return any(inner is other for inner in self.below(node))

    def clear(self) -> None:
        """Remove everything."""
        for node in list(self.below(self.root)):
            node.links = 0
        self.root.names.clear()

    def rename(self, old: tuple[str, ...], new: tuple[str, ...], *, replace: bool) -> None:
        """Rename as Linux does, but for a rename by case alone, which respells."""
        source, target = self.folder_of(old), self.folder_of(new)
        node, victim = self.get(source, old[-1]), self.get(target, new[-1])
        if node is None:
            raise RefusedError(errno.ENOENT)
        if source is target and self.key(old[-1]) == self.key(new[-1]):
            self.respell(source, old[-1], new[-1], replace=replace)
            return
        if victim is not None and not replace:
            raise RefusedError(errno.EEXIST)
        self.refuse_knots(node, victim, source, target)
        if node is victim:
            return
        if victim is not None:
            self.refuse_victim(node, victim)
            self.take(target, new[-1])
        self.take(source, old[-1])
        self.put(target, new[-1], node)

    def respell(self, folder: Node, old: str, new: str, *, replace: bool) -> None:
        spelled, node = folder.names[self.key(old)]
        if new in {spelled, old}:
            if not replace:
                raise RefusedError(errno.EEXIST)
            return
        self.take(folder, old)
        self.put(folder, new, node)

    def exchange(self, old: tuple[str, ...], new: tuple[str, ...]) -> None:
        source, target = self.folder_of(old), self.folder_of(new)
        one, other = self.get(source, old[-1]), self.get(target, new[-1])
        if one is None or other is None:
            raise RefusedError(errno.ENOENT)
        self.refuse_knots(one, None, source, target)
        self.refuse_knots(other, None, target, source)
        key, other_key = self.key(old[-1]), self.key(new[-1])
        source.names[key] = (source.names[key][0], other)
        target.names[other_key] = (target.names[other_key][0], one)

    def refuse_knots(self, node: Node, victim: Node | None, source: Node, target: Node) -> None:
        """Refuse to move a folder into itself, or over one that it is in."""
        if self.contains(node, target):
            raise RefusedError(errno.EINVAL)
        if victim is not None and self.contains(victim, source):
            raise RefusedError(errno.ENOTEMPTY)

    @staticmethod
    def refuse_victim(node: Node, victim: Node) -> None:
        if node.kind is Kind.FOLDER and victim.kind is not Kind.FOLDER:
            raise RefusedError(errno.ENOTDIR)
        if node.kind is not Kind.FOLDER and victim.kind is Kind.FOLDER:
            raise RefusedError(errno.EISDIR)
        if victim.names:
            raise RefusedError(errno.ENOTEMPTY)

    def listing(self, folder: Node) -> list[str]:
        """List the names of a folder as created, oldest first."""
        return [name for name, _ in folder.names.values()]


def path_text(base: str, path: tuple[str, ...]) -> str:
    """Say a path of the model as one on the disk."""
    return os.sep.join((base, *path))

"""Does random things to the mount and to a model of it, and compares what comes of them.

Run further than a test by `python -m tests.casefs.fuzz [--operations 200000] [--seed 1] [--fold on|off] [--sanitized]`.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import os
import random
import stat
import subprocess
import tempfile
import time
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.casefs.model import Kind, Model, Node, RefusedError, path_text
from tests.casefs.mounting import Mount, build, mounted

NAMES = ("a", "b", "file", "Stra\u00dfe", "\u00e9t\u00e9", "\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2", "x.y", "Ab", "\uac01")
NO_REPLACE, EXCHANGE = 1, 2
MOST_OPEN = 12
FRESH_START = 2000
LIBC = ctypes.CDLL(None, use_errno=True)

type_of = {Kind.FILE: stat.S_IFREG, Kind.FOLDER: stat.S_IFDIR, Kind.LINK: stat.S_IFLNK}


def rename_with(old: str, new: str, flags: int) -> None:
    """Call renameat2, which Python does not offer."""
    current = -100
    if LIBC.renameat2(current, os.fsencode(old), current, os.fsencode(new), flags) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), old)


@dataclass
class Fuzz:
    """One walk: the mounted folder, the model, and the choices."""

    base: str
    model: Model
    chance: random.Random
    inodes: dict[Node, int] = field(default_factory=dict)
    opened: list[tuple[int, Node]] = field(default_factory=list)
    done: dict[str, int] = field(default_factory=dict)

    def spelling(self, name: str) -> str:
        """Spell a name in another way, where names fold; sometimes also where they do not."""
        ways: tuple[Callable[[str], str], ...] = (
            str,
            str.upper,
            str.lower,
            str.swapcase,
            str.casefold,
            lambda text: unicodedata.normalize("NFD", text),
            lambda text: unicodedata.normalize("NFC", text.upper()),
        )
        return self.chance.choice(ways)(name)

    def path(self) -> tuple[str, ...]:
        """Choose a path, mostly one that leads somewhere."""
        names: list[str] = []
        folder = self.model.root
        while len(names) < 6 and self.chance.random() < 0.75:
            below = [name for name, node in folder.names.values() if node.kind is Kind.FOLDER]
            if not below:
                break
            names.append(self.chance.choice(below))
            found = self.model.get(folder, names[-1])
            assert found is not None
            folder = found
        there = self.model.listing(folder)
        names.append(self.chance.choice(there) if there and self.chance.random() < 0.5 else self.chance.choice(NAMES))
        if self.chance.random() < 0.03:
            names.append(self.chance.choice(NAMES))
        return tuple(self.spelling(name) for name in names)

    def both(self, expected: Callable[[], object], real: Callable[[], object], what: str) -> bool:
        """Do something to both; they agree or it is a fault. True if it succeeded."""
        wanted = met = 0
        try:
            expected()
        except RefusedError as refused:
            wanted = refused.number
        try:
            real()
        except OSError as error:
            met = error.errno or -1
        assert wanted == met, f"{what}: expected {self.outcome(wanted)}, got {self.outcome(met)}"
        return not wanted

    @staticmethod
    def outcome(number: int) -> str:
        return errno.errorcode.get(number, "success")

    def text(self, path: tuple[str, ...]) -> str:
        return path_text(self.base, path)

    def mkdir(self) -> None:
        path = self.path()
        self.both(lambda: self.model.make(path, Node(Kind.FOLDER, 0o755)), lambda: os.mkdir(self.text(path)), f"mkdir {path}")

    def create(self) -> None:
        path = self.path()
        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR
        self.both(
            lambda: self.model.make(path, Node(Kind.FILE, 0o644)),
            lambda: os.close(os.open(self.text(path), flags, 0o644)),
            f"create {path}",
        )

    def symlink(self) -> None:
        path = self.path()
        self.both(
            lambda: self.model.make(path, Node(Kind.LINK, 0o777, b"no/where")),
            lambda: os.symlink("no/where", self.text(path)),
            f"symlink {path}",
        )

    def write(self) -> None:
        path, offset, content = self.path(), self.chance.randrange(5000), self.chance.randbytes(self.chance.randrange(3000))
        truncate = self.chance.random() < 0.3
        flags = os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW | (os.O_TRUNC if truncate else 0)

        def expected() -> None:
            node = self.model.opened(path, create=True)
            self.splice(node, b"" if truncate else node.content, offset, content)

        def real() -> None:
            descriptor = os.open(self.text(path), flags, 0o644)
            os.pwrite(descriptor, content, offset)
            os.close(descriptor)

        self.both(expected, real, f"write {path}")

    @staticmethod
    def splice(node: Node, before: bytes, offset: int, content: bytes) -> None:
        if content:
            before = before.ljust(offset, b"\0")
            before = before[:offset] + content + before[offset + len(content) :]
        node.content = before

    def truncate(self) -> None:
        path, size = self.path(), self.chance.randrange(8000)

        def expected() -> None:
            node = self.model.find(path)
            if node.kind is not Kind.FILE:
                raise RefusedError(errno.EISDIR if node.kind is Kind.FOLDER else errno.ENOENT)
            node.content = node.content[:size].ljust(size, b"\0")

        self.both(expected, lambda: os.truncate(self.text(path), size), f"truncate {path}")

    def open(self) -> None:
        """Keep a file open, whatever happens to its names."""
        path = self.path()
        nodes: list[Node] = []
        descriptors: list[int] = []
        if self.both(
            lambda: nodes.append(self.model.opened(path, create=False)),
            lambda: descriptors.append(os.open(self.text(path), os.O_RDWR | os.O_NOFOLLOW)),
            f"open {path}",
        ):
            self.opened.append((descriptors[0], nodes[0]))
        if len(self.opened) > MOST_OPEN:
            descriptor, _ = self.opened.pop(self.chance.randrange(len(self.opened)))
            os.close(descriptor)

    def use_open(self) -> None:
        """Read or write through an open file that may have no name any more."""
        if not self.opened:
            return
        descriptor, node = self.chance.choice(self.opened)
        if self.chance.random() < 0.5:
            offset, content = self.chance.randrange(5000), self.chance.randbytes(self.chance.randrange(2000))
            os.pwrite(descriptor, content, offset)
            self.splice(node, node.content, offset, content)
        assert os.pread(descriptor, 1 << 16, 0) == node.content
        status = os.fstat(descriptor)
        assert (status.st_size, status.st_nlink) == (len(node.content), node.links)

    def chmod(self) -> None:
        path, mode = self.path(), self.chance.choice((0o600, 0o644, 0o755, 0o700))

        def expected() -> None:
            node = self.model.find(path)
            if node.kind is Kind.LINK:
                raise RefusedError(errno.ENOENT)
            node.mode = mode

        self.both(expected, lambda: os.chmod(self.text(path), mode), f"chmod {path}")

    def unlink(self) -> None:
        path = self.path()
        self.both(lambda: self.model.unlink(path), lambda: os.unlink(self.text(path)), f"unlink {path}")

    def rmdir(self) -> None:
        path = self.path()
        self.both(lambda: self.model.rmdir(path), lambda: os.rmdir(self.text(path)), f"rmdir {path}")

    def link(self) -> None:
        old, new = self.path(), self.path()
        self.both(lambda: self.model.link(old, new), lambda: os.link(self.text(old), self.text(new)), f"link {old} {new}")

    def rename(self) -> None:
        old, new = self.path(), self.path()
        if self.chance.random() < 0.3:
            new = tuple(self.spelling(name) for name in old)
        flags = self.chance.choice((0, 0, 0, NO_REPLACE))
        self.both(
            lambda: self.model.rename(old, new, replace=flags == 0),
            lambda: rename_with(self.text(old), self.text(new), flags),
            f"rename {old} {new} flags {flags}",
        )

    def exchange(self) -> None:
        old, new = self.path(), self.path()
        self.both(
            lambda: self.model.exchange(old, new),
            lambda: rename_with(self.text(old), self.text(new), EXCHANGE),
            f"exchange {old} {new}",
        )

    def look(self) -> None:
        """Compare everything about one path."""
        path = self.path()
        if self.both(lambda: self.model.find(path), lambda: os.lstat(self.text(path)), f"stat {path}"):
            self.compare(self.model.find(path), self.text(path))

    def compare(self, node: Node, text: str) -> None:
        status = os.lstat(text)
        assert stat.S_IFMT(status.st_mode) == type_of[node.kind], text
        assert self.inodes.setdefault(node, status.st_ino) == status.st_ino, text
        if node.kind is Kind.FOLDER:
            assert os.listdir(text) == self.model.listing(node), text
        else:
            assert status.st_nlink == node.links, text
        if node.kind is Kind.LINK:
            assert os.readlink(text) == "no/where", text
        else:
            assert stat.S_IMODE(status.st_mode) == node.mode, text
        if node.kind is Kind.FILE:
            assert Path(text).read_bytes() == node.content, text

    def compare_all(self) -> None:
        """Compare the whole tree."""
        waiting = [(self.model.root, self.base)]
        while waiting:
            node, text = waiting.pop()
            if node is not self.model.root:
                self.compare(node, text)
            waiting += [(below, os.path.join(text, name)) for name, below in node.names.values()]

    def clear(self) -> None:
        """Start afresh: trees that are moved into trees would get deeper than a path can say."""
        for name in self.model.listing(self.model.root):
            subprocess.run(["rm", "-rf", self.text((self.spelling(name) if self.model.folding else name,))], check=True)
        assert os.listdir(self.base) == []
        self.model.clear()

    def step(self) -> None:
        """Do one thing. A tree that has grown large is cut more than it grows."""
        grow = (self.mkdir, self.create, self.write, self.symlink, self.link)
        cut = (self.unlink, self.rmdir, self.unlink, self.rename)
        often = (self.look, self.look, self.rename, self.rename)
        other = (*often, self.exchange, self.chmod, self.truncate, self.open, self.use_open)
        favoured = cut if len(self.model.root.names) > 7 or self.chance.random() < 0.3 else grow
        action = self.chance.choice(other if self.chance.random() < 0.5 else favoured)
        self.done[action.__name__] = self.done.get(action.__name__, 0) + 1
        action()


def fuzz(mount: Mount, operations: int, seed: int, *, folding: bool) -> Fuzz:
    """Walk; raises AssertionError at the first difference. Every now and then the kernel forgets all that it can."""
    base = mount.path / "fuzz"
    base.mkdir()
    walk = Fuzz(str(base), Model(folding), random.Random(seed))  # noqa: S311  # a test's choices
    for number in range(operations):
        try:
            walk.step()
        except AssertionError as fault:
            raise AssertionError(f"operation {number} of seed {seed}: {fault}") from fault
        if number % 500 == 499:
            walk.compare_all()
            walk.inodes = {node: inode for node, inode in walk.inodes.items() if node.links}
        if number % 1000 == 999:
            mount.forget()
            walk.compare_all()
        if number % FRESH_START == FRESH_START - 1:
            walk.clear()
    for descriptor, _ in walk.opened:
        os.close(descriptor)
    walk.compare_all()
    return walk


def main() -> None:
    """Fuzz as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fold", choices=["on", "off"], default="on")
    parser.add_argument("--sanitized", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder), sanitized=given.sanitized)
        with mounted(program, f"--fold={given.fold}", "--descriptors=16") as mount:
            start = time.monotonic()
            walk = fuzz(mount, given.operations, given.seed, folding=given.fold == "on")
            seconds = time.monotonic() - start
            print(f"{given.operations} operations in {seconds:.1f} s, no difference; {mount.figures()}")
            print(" ".join(f"{name}={count}" for name, count in sorted(walk.done.items())))


if __name__ == "__main__":
    main()

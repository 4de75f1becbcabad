"""The recorder: a pytest plugin that tells the launcher, event by event, what every test of a cell did. PYTEST_DONT_REWRITE.

It decides in which order tests run and, under pytest-xdist, where; it never changes what a test does. One file, the standard
library and pytest alone, CPython 3.8 and pytest 7 or later, so that it can be loaded with `-p` into any project's environment.

How it is laid out, top to bottom: what is kept safe from tests; settings; where events go; names of tests; their order; what went
wrong; recording one process; sharing out over workers; what is switched off; how pytest finds all this.
"""

from __future__ import annotations

import abc
import collections
import contextlib
import faulthandler
import fcntl
import functools
import hashlib
import importlib
import json
import linecache
import os
import posixpath
import re
import shlex
import signal
import sys
import threading
import time
from types import TracebackType
from typing import (
    Any,
    Callable,
    ClassVar,
    Deque,
    Dict,
    Generator,
    Iterable,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

import pytest

VARIABLE = "PARITYGATE_RECORDER"
DUMP_SIGNAL_OFFSET = 11
HIGH_DESCRIPTOR = 512
WORKER_RESTARTS = 4
EXIT_SECONDS = 2.0  # for a worker whose connection has ended, to end itself
TEARDOWNS = 3  # tries to tear down a test that ended the session, whose fixtures may end it once more

MESSAGE_LENGTH = 500
SOURCE_LENGTH = 200
TEXT_LENGTH = 20_000
OUTPUT_LENGTH = 8_000

# From the mildest to the worst. A failing call outweighs an error in its teardown, which often only follows from it.
SEVERITY = {word: rank for rank, word in enumerate(("passed", "xpassed", "xfailed", "skipped", "error", "failed", "crashed"))}
RED = frozenset({"error", "failed", "crashed"})
PHASE_OF_THE_DEAD = "???"  # pytest-forked's word, where the process it had forked for a test left no report

Test = Tuple[str, int]
Emit = Callable[..., None]
Wrapper = Generator[None, Any, None]


# ---------------------------------------------------------------------------------------------- what is kept safe from tests


class _Real:
    """What the recorder calls, as it was before any test could replace it.

    These are attributes of a class because freezegun swaps the attributes of modules, wherever they are.
    """

    write = staticmethod(os.write)
    fstat = staticmethod(os.fstat)
    getpid = staticmethod(os.getpid)
    leave = staticmethod(os._exit)
    clock = staticmethod(time.perf_counter)
    encode = staticmethod(json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), default=repr).encode)
    decode = staticmethod(json.JSONDecoder().decode)


class _Process:
    """Which process this is, counted at each fork instead of asked at each look, which would cost a call of the kernel."""

    forks: ClassVar[List[None]] = []  # grows in a child; not by a function of ours, which would keep all modules to the very end

    @classmethod
    def generation(cls) -> int:
        """Say how many forks lie before this process: another number than a while ago means a child."""
        return len(cls.forks)


def _attempt(action: Callable[[], Any], otherwise: Any) -> Any:
    """Call what may run the project's code (`__str__`, `__repr__`) or read what a test has patched, and let nothing out."""
    try:
        return action()
    except BaseException:  # noqa: BLE001 - whatever a `__str__` raises, the record goes on
        return otherwise


def _shortened(text: str, length: int) -> str:
    """Cut the middle out of a text that is too long."""
    if len(text) <= length:
        return text
    half = length // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def _digest(text: str, size: int = 8) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest()


# ------------------------------------------------------------------------------------------------------------------- settings


EXCLUDE = "parity_exclude"


class Settings:
    """What the launcher asks for; `text` is kept as it came, to be handed on to workers."""

    def __init__(self, text: str) -> None:
        raw = _Real.decode(text)
        order = raw.get("order") or {}
        self.text = text
        self.nonce: str = raw["nonce"]
        self.workers: int = raw.get("workers") or 0
        self.stack_directory: str = raw.get("stack_directory") or ""
        self.root: str = raw["root"]
        self.rootdir: str = raw.get("rootdir") or self.root
        self.order_seed: int = order.get("seed") or 0
        self.reversed: bool = bool(order.get("reversed"))
        self.shares: Dict[str, List[Test]] = {worker: _tests(some) or [] for worker, some in (order.get("shares") or {}).items()}
        shared = [test for some in self.shares.values() for test in some]
        self.exactly: Optional[List[Test]] = shared or _tests(order.get("exactly"))
        self.only: Optional[List[Test]] = _tests(order.get("only"))
        self.exclude: Dict[str, str] = raw.get("exclude") or {}
        self.share: Dict[str, Any] = raw.get("share") or {}
        self.watched: Optional[List[str]] = raw.get("watched")
        self.respect_pins: bool = bool(raw.get("respect_pins"))
        self.arguments: List[str] = raw.get("arguments") or []


def _tests(pairs: Optional[Iterable[Sequence[Any]]]) -> Optional[List[Test]]:
    return None if pairs is None else [(stable(nodeid), int(occurrence)) for nodeid, occurrence in pairs]


class Claim(NamedTuple):
    """What this process inherited from the launcher: its settings, and the descriptor to write events to."""

    settings: Settings
    descriptor: int


def _claim() -> Optional[Claim]:
    """Take over the two descriptors named in the environment, so that no child of a test finds or inherits them."""
    value = os.environ.pop(VARIABLE, "")
    if not value:
        return None
    config_fd, event_fd = (int(part) for part in value.split(","))
    os.set_inheritable(config_fd, False)  # noqa: FBT003 - the standard library's own signature
    os.set_inheritable(event_fd, False)  # noqa: FBT003
    with os.fdopen(config_fd, encoding="utf-8") as stream:
        settings = Settings(stream.read())
    try:
        high = fcntl.fcntl(event_fd, fcntl.F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR)
    except OSError:  # the limit on open files is lower than that
        return Claim(settings, event_fd)
    os.close(event_fd)
    return Claim(settings, high)


# ------------------------------------------------------------------------------------------------------------ where events go


class Outlet(abc.ABC):
    """The way that this process's events go. One may be held back for a moment, to go together with the next.

    To send is the dearest part of an event, as it wakes another process up. Threads, which carry workers' events, take turns.
    """

    def __init__(self) -> None:
        self._generation = _Process.generation()
        self._lock = threading.Lock()
        self._held: List[Tuple[str, str]] = []

    def emit(self, kind: str, **facts: Any) -> None:
        """Send one event, and what was held back."""
        self.send(kind, _Real.encode(facts))

    def send(self, kind: str, facts: str) -> None:
        """Send one event whose facts are JSON already, and what was held back."""
        self.hold(kind, facts)
        self.flush()

    def hold(self, kind: str, facts: str) -> None:
        """Hold one event back until the next, or until `flush`; the caller knows that this is only a moment."""
        with self._lock:
            self._held.append((kind, facts))

    def flush(self) -> None:
        """Send what was held back, unless this is a child of the process whose events they are."""
        if _Process.generation() == self._generation:
            with self._lock:
                if self._held:
                    self._carry(self._held)
                    self._held = []  # only now: better twice than never, where the handler of a signal raises in between

    @abc.abstractmethod
    def _carry(self, events: List[Tuple[str, str]]) -> None:
        """Write events at once, in this order."""


class Pipe(Outlet):
    """The launcher's pipe. Every event is one line, and what goes together is one write."""

    def __init__(self, claim: Claim) -> None:
        super().__init__()
        self._start = f'{{"n":{_Real.encode(claim.settings.nonce)},"e":'
        self._descriptor = claim.descriptor
        self._identity = self._identify()

    def _carry(self, events: List[Tuple[str, str]]) -> None:
        # A test may have closed the descriptor, and the number may by now belong to a file of its own.
        if self._identify() != self._identity:
            return
        lines = "".join([f'{self._start}"{kind}",{facts[1:]}\n' for kind, facts in events]).encode("ascii")
        while lines:
            try:
                lines = lines[_Real.write(self._descriptor, lines) :]
            except OSError:  # the launcher is gone, so nobody is left to be told
                return

    def _identify(self) -> Optional[Tuple[int, int]]:
        try:
            status = _Real.fstat(self._descriptor)
        except OSError:
            return None
        return status.st_dev, status.st_ino


class Channel(Outlet):
    """The way from a worker to its controller: xdist's own connection, with a kind of message that `Controller` picks out."""

    def __init__(self, config: pytest.Config) -> None:
        super().__init__()
        self._sendevent = next(plugin.sendevent for plugin in config.pluginmanager.get_plugins() if hasattr(plugin, "sendevent"))

    def _carry(self, events: List[Tuple[str, str]]) -> None:
        self._sendevent("paritygate", events=events)  # facts go as text, since execnet has no way to carry lone surrogates


# ------------------------------------------------------------------------------------------------------------- names of tests

_ADDRESS = re.compile(r"(?<=\bat )0x[0-9a-fA-F]+|0x(?:7[ef]|5[5-7])[0-9a-fA-F]{10}\b|(?<= id=')\d{9,}(?=')")


def stable(nodeid: str) -> str:
    """Write `0x...` for every memory address in a node id."""
    return _ADDRESS.sub("0x...", nodeid) if "0x" in nodeid or " id='" in nodeid else nodeid


class Roster:
    """Which item is which test: its id relative to the tree, without addresses, and which of several equal ones it is."""

    def __init__(self, settings: Settings) -> None:
        self._root = settings.root
        self._tops = _folder_prefixes(settings.root)
        self._rootdir = settings.rootdir
        self._rootdirs = _folder_prefixes(settings.rootdir)
        directory = os.path.relpath(settings.rootdir, settings.root)
        self._prefix = "" if directory == "." else directory.replace(os.sep, "/") + "/"
        self._files: Dict[Any, Optional[Tuple[str, str]]] = {None: None}
        self._tests: Dict[pytest.Item, Test] = {}
        self._met: Dict[str, int] = {}
        self.unstable: Dict[str, None] = {}

    def relative(self, nodeid: str) -> str:
        """Say a node id, or a path relative to pytest's root directory, relative to the tree."""
        if not nodeid.startswith("../"):
            return self._prefix + nodeid if nodeid else self._prefix.rstrip("/")
        path, separator, rest = nodeid.partition("::")
        return posixpath.normpath(self._prefix + path) + separator + rest

    def name(self, node: Any) -> str:
        """Say the id of a node relative to the tree, also in a file outside pytest's root directory."""
        file = self._file(node)
        nodeid = str(node.nodeid)
        return self.relative(nodeid) if file is None or not nodeid.startswith(file[0]) else file[1] + nodeid[len(file[0]) :]

    def asked_for(self, argument: str) -> str:
        """Say what was asked for, a path from pytest's root directory and perhaps names in that file, relative to the tree."""
        path, separator, names = argument.partition("::")
        path = os.path.normpath(os.path.join(self._rootdir, path))
        top = next((top for top in self._tops if path.startswith(top)), "")
        return stable(path[len(top) :].replace(os.sep, "/") + separator + names)

    def number(self, items: Iterable[pytest.Item]) -> None:
        """Name the items that have no name yet, in the order given."""
        for item in items:
            if item not in self._tests:
                plain = self.name(item)
                nodeid = stable(plain)
                if nodeid != plain:
                    self.unstable[nodeid] = None
                occurrence = self._met.get(nodeid, 0)
                self._met[nodeid] = occurrence + 1
                self._tests[item] = (nodeid, occurrence)

    def test(self, item: pytest.Item) -> Test:
        """Say which test an item is."""
        test = self._tests.get(item)
        if test is None:
            self.number([item])
            test = self._tests[item]
        return test

    def _file(self, node: Any) -> Optional[Tuple[str, str]]:
        """Say the ids that pytest and we have for the file in which a node is, if it is in one; found out once a collector."""
        if isinstance(node, pytest.File):
            if node not in self._files:
                self._files[node] = (node.nodeid, self._file_name(node))
            return self._files[node]
        above = node.parent
        if above not in self._files:
            self._files[above] = self._file(above)
        return self._files[above]

    def _file_name(self, file: pytest.File) -> str:
        path = str(file.path)
        name = os.path.relpath(path, self._root).replace(os.sep, "/")
        inside = path.startswith(self._rootdirs) or name.startswith("../")
        return self.relative(file.nodeid) if inside else name


def _folder_prefixes(folder: str) -> Tuple[str, ...]:
    """Say how paths in a folder begin, by its name and by what links in it lead to."""
    return tuple({top.rstrip(os.sep) + os.sep for top in (folder, os.path.realpath(folder))})


# --------------------------------------------------------------------------------------------------------- the order of tests


def seeded(items: Sequence[pytest.Item], seed: int, roster: Roster) -> List[pytest.Item]:
    """Order by file, then class by class, then test, each by a hash of seed and id alone: a subset keeps the common order."""
    places: Dict[Any, Tuple[bytes, ...]] = {None: ()}

    def key(nodeid: str) -> bytes:
        return _digest(f"{seed}:{nodeid}")

    def place(node: Any) -> Tuple[bytes, ...]:
        if node not in places:
            above = () if isinstance(node, pytest.File) else place(node.parent)
            places[node] = (*above, key(roster.name(node)))
        return places[node]

    def position(item: pytest.Item) -> Tuple[bytes, ...]:
        nodeid, occurrence = roster.test(item)
        return (*place(item.parent), key(f"{nodeid}#{occurrence}"))

    return sorted(items, key=position)


class Definition:
    """The order in which tests are written, which those keep among themselves that say they depend on each other."""

    # `dependency` is pytest-dependency's; `incremental` is the recipe for test steps in pytest's documentation.
    MARKS = ("dependency", "incremental")
    WIDE_SCOPES = ("session", "package")

    def __init__(self, items: Sequence[pytest.Item]) -> None:
        marked = _marked(items, *self.MARKS)
        wide = any(mark.kwargs.get("scope") in self.WIDE_SCOPES for mark in marked.values())
        self._positions = {item: position for position, item in enumerate(marked)}
        self._buckets = {item: "" if wide else item.nodeid.partition("::")[0] for item in marked}

    def settle(self, order: Sequence[pytest.Item]) -> List[pytest.Item]:
        """Put dependent tests into their own order, among the places that they have in this one."""
        settled = list(order)
        if not self._buckets:
            return settled
        slots: Dict[str, List[int]] = {}
        for index, item in enumerate(settled):
            if item in self._buckets:
                slots.setdefault(self._buckets[item], []).append(index)
        for indices in slots.values():
            members = sorted((settled[index] for index in indices), key=self._positions.__getitem__)
            for index, item in zip(indices, members):
                settled[index] = item
        return settled


def shares(share: Mapping[str, Any], nodeid: str) -> bool:
    """Say whether a test is in this shard, by its file; of a file that nobody knew beforehand a digest of its path decides."""
    if not share:
        return True
    file = nodeid.partition("::")[0]
    number = share["files"].get(file) or int.from_bytes(_digest(file), "big") % share["total"] + 1
    return bool(number == share["number"])


def _marked(items: Iterable[pytest.Item], *names: str) -> Dict[pytest.Item, pytest.Mark]:
    """Find the items that have a mark of one of these names, with the closest such mark; each collector is looked at once."""
    above: Dict[Any, Optional[pytest.Mark]] = {None: None}

    def closest(node: Any) -> Optional[pytest.Mark]:
        for mark in node.own_markers:
            if mark.name in names:
                return mark  # type: ignore[no-any-return] # a node of whatever kind
        parent = node.parent
        if parent not in above:
            above[parent] = closest(parent)
        return above[parent]

    return {item: mark for item in items for mark in [closest(item)] if mark is not None}


def regrouped(items: Sequence[pytest.Item]) -> Optional[List[pytest.Item]]:
    """Group by parametrised fixtures of a higher scope as pytest does after collection; None if this pytest has no such step."""
    try:
        from _pytest.fixtures import reorder_items  # noqa: PLC0415 - private to pytest, so allowed to be missing
    except ImportError:
        return None
    return list(reorder_items(items))


class Ordering:
    """Outermost around all that orders collected items: gives the others the seeded order, and has the last word after them."""

    def __init__(self, settings: Settings, roster: Roster) -> None:
        self.excluded: Dict[str, str] = {}
        self.missing: Dict[str, None] = {}
        self.is_done = False
        self._settings = settings
        self._roster = roster
        wanted = settings.exactly if settings.exactly is not None else settings.only
        self._wanted = None if wanted is None else {test: index for index, test in enumerate(wanted)}

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: List[pytest.Item]) -> Wrapper:
        """Order the items before and after everybody else."""
        self._roster.number(items)
        self._look_for_what_was_asked(config, items)
        definition = Definition(items)
        self._narrow(config, items)
        forward = self._forward(items)
        given = definition.settle(forward[::-1] if self._settings.reversed else forward)
        forward = definition.settle(forward)
        items[:] = given
        outcome = yield
        if outcome.excinfo is None:
            self._roster.number(items)
            items[:] = self._last_word(items, given, forward, definition)
            self.is_done = True

    def _look_for_what_was_asked(self, config: pytest.Config, items: List[pytest.Item]) -> None:
        """Note the ids among the arguments that no test has, before any is left out; pytest itself does not name them all."""
        asked = [] if config.option.pyargs else [str(argument) for argument in config.args if "::" in str(argument)]
        there = [self._roster.test(item)[0] for item in items] if asked else []
        for nodeid in map(self._roster.asked_for, asked):
            inside = (f"{nodeid}[", f"{nodeid}::")
            if not any(each == nodeid or each.startswith(inside) for each in there):
                self.missing[nodeid] = None

    def _narrow(self, config: pytest.Config, items: List[pytest.Item]) -> None:
        """Leave out what is excluded, by our mark or by one that the configuration names, and what this run is not about."""
        excluding = {**_marked(items, *self._settings.exclude), **_marked(items, EXCLUDE)}
        if not excluding and self._wanted is None and not self._settings.share:
            return
        kept: List[pytest.Item] = []
        dropped: List[pytest.Item] = []
        for item in items:
            test = self._roster.test(item)
            wanted = (self._wanted is None or test in self._wanted) and shares(self._settings.share, test[0])
            if wanted and item in excluding:
                self._exclude(item, excluding[item])
                wanted = False
            (kept if wanted else dropped).append(item)
        items[:] = kept
        if dropped:
            config.hook.pytest_deselected(items=dropped)

    def _exclude(self, item: pytest.Item, mark: pytest.Mark) -> None:
        given = mark.kwargs.get("reason", mark.args[0] if mark.args else "")
        reason = given if mark.name == EXCLUDE else self._settings.exclude[mark.name]
        nodeid = self._roster.test(item)[0]
        if not isinstance(reason, str) or not reason.strip():
            said = f'`{nodeid}` is marked `parity_exclude` without saying why; write `parity_exclude(reason="...")`'
            raise pytest.UsageError(said)
        self.excluded[nodeid] = str(reason)

    def _forward(self, items: List[pytest.Item]) -> List[pytest.Item]:
        if self._settings.exactly is not None:
            return self._exactly(items)
        return seeded(items, self._settings.order_seed, self._roster)

    def _exactly(self, items: List[pytest.Item]) -> List[pytest.Item]:
        positions = self._wanted or {}
        return sorted(items, key=lambda item: positions.get(self._roster.test(item), len(positions)))

    def _last_word(
        self, items: List[pytest.Item], given: List[pytest.Item], forward: List[pytest.Item], definition: Definition
    ) -> List[pytest.Item]:
        """Say the final order.

        Where nobody but pytest itself has regrouped, the reverse of an order is made from that order's own end, since
        regrouping its reverse would be another one. Where others have grouped, their groups stand.
        """
        if self._settings.exactly is not None:
            return self._exactly(items)
        if not self._settings.reversed:
            return items
        left = set(items)
        if regrouped([item for item in given if item in left]) != items:
            return items
        ahead = regrouped([item for item in forward if item in left]) or []
        return definition.settle(ahead[::-1])


# ------------------------------------------------------------------------------------------------------------ what went wrong


class Scene(NamedTuple):
    """What is known of an exception while it is at hand; plain values, since it may travel on a report between processes."""

    exception: str
    message: str
    file: str = ""
    line: int = 0
    function: str = ""
    source: str = ""


class Investigator:
    """Finds out where in the tree an exception came from."""

    def __init__(self, settings: Settings, roster: Roster) -> None:
        self._roster = roster
        self._tops = _folder_prefixes(settings.root)
        self._top = settings.root
        self._rootdir = settings.rootdir
        self._known: Dict[str, str] = {}

    def scene(self, error: BaseException) -> Scene:
        """Look at an exception while its traceback is there."""
        kind = type(error).__name__
        if kind == "MultipleDoctestFailures":
            return self.scene(error.failures[0])  # type: ignore[attr-defined] # as the name says
        if kind in ("DocTestFailure", "UnexpectedException"):
            return self._doctest_scene(error)
        file, line, function = self._place(error.__traceback__)
        if isinstance(error, SyntaxError) and error.filename:
            file, line = self._in_tree(error.filename) or file, error.lineno or line
        return Scene(_qualified(type(error)), _message(error), file, line, function)

    def describe(self, phase: str, scene: Optional[Scene], text: str, location: Optional[Sequence[Any]]) -> Dict[str, Any]:
        """Put together an event's `failure`. Sources are read here, after the test, when they are no longer patched."""
        if scene is None:
            scene = Scene("", text.strip().partition("\n")[0][:MESSAGE_LENGTH])
        if not scene.file and location:
            line = location[1] + 1 if isinstance(location[1], int) else 0
            scene = scene._replace(file=self._roster.relative(str(location[0])), line=line, function=str(location[2]))
        source = scene.source or linecache.getline(os.path.join(self._top, scene.file), scene.line)
        return {
            "phase": phase,
            "exception": scene.exception,
            "message": scene.message,
            "fingerprint": self._fingerprint(phase, scene, source),
            "file": scene.file,
            "line": scene.line,
            "source": source.strip()[:SOURCE_LENGTH],
            "text": _shortened(text, TEXT_LENGTH),
        }

    def _fingerprint(self, phase: str, scene: Scene, source: str) -> str:
        """Tell failures apart by place and kind, so that neither values, addresses nor edits further up matter."""
        if not scene.exception:  # a verdict without an exception, such as a strict xpass: all there is is its text
            source = re.sub(r"0x[0-9a-fA-F]+|\d+", "#", scene.message)
        parts = (phase, scene.exception, scene.file, scene.function, " ".join(source.split()))
        return _digest("\0".join(parts)).hex()

    def _place(self, traceback: Optional[TracebackType]) -> Tuple[str, int, str]:
        """Say file, line and function of the last step that lies in the tree."""
        found = ("", 0, "")
        while traceback is not None:
            code = traceback.tb_frame.f_code
            file = self._in_tree(code.co_filename)
            if file:
                found = (file, traceback.tb_lineno, code.co_name)
            traceback = traceback.tb_next
        return found

    def _in_tree(self, filename: str) -> str:
        """Say a source file relative to the tree; nothing for one outside it, or installed inside it."""
        if filename not in self._known:
            path = os.path.normpath(os.path.join(self._rootdir, filename))
            top = next((top for top in self._tops if path.startswith(top)), None)
            foreign = top is None or filename.startswith("<") or f"{os.sep}site-packages{os.sep}" in path
            self._known[filename] = "" if foreign or top is None else path[len(top) :].replace(os.sep, "/")
        return self._known[filename]

    def _doctest_scene(self, error: Any) -> Scene:
        inner = error.exc_info[1] if getattr(error, "exc_info", None) else error
        line = (error.test.lineno or 0) + error.example.lineno + 1
        file = self._in_tree(error.test.filename or "")
        return Scene(_qualified(type(inner)), _message(inner), file, line, error.test.name, error.example.source)


def _how_it_ends(error: BaseException) -> str:
    """Say what ended a session, or would have: in the words of who wrote it, as far as they are known."""
    if isinstance(error, pytest.UsageError):
        return "\n".join(map(str, error.args))
    if isinstance(error, pytest.exit.Exception):
        return f'pytest.exit("{_message(error)}")'
    said = _message(error)
    if type(error).__name__ in ("Interrupted", "Failed") and said:  # pytest's and xdist's own, which only carry a sentence
        return said
    name = _qualified(type(error))
    return f"{name}: {said}" if said else name


def _qualified(kind: type) -> str:
    module = getattr(kind, "__module__", "")
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"


def _message(error: Any) -> str:
    text = _attempt(lambda: _wording(error), "<its text could not be made>")
    return str(text).strip()[:MESSAGE_LENGTH]


def _wording(error: Any) -> str:
    """Say what an exception says; two kinds say it to pytest alone."""
    kind = type(error).__name__
    if kind == "FixtureLookupError":
        return str(error.msg or f"fixture '{error.argname}' not found")
    if kind == "DocTestFailure":
        return f"expected {error.example.want!r}, got {error.got!r}"
    return str.__str__(str(error))


def _longrepr(report: Any) -> str:
    text = _attempt(lambda: report.longreprtext, None)
    return (
        text if isinstance(text, str) else str(_attempt(lambda: str(report.longrepr), "<its representation could not be made>"))
    )


# ------------------------------------------------------------------------------------------------------ recording one process


class Fold:
    """All reports of one test on their way to one outcome."""

    def __init__(self) -> None:
        self.generation = _Process.generation()
        self.outcome = "not_run"
        self.worst: Any = None
        self._rank = -1
        self._reports: List[Any] = []

    def add(self, report: Any) -> None:
        """Take one more phase or subtest into account."""
        outcome = self._outcome(report)
        rank = SEVERITY.get(outcome, -1)
        self._reports.append(report)
        if rank > self._rank:
            self._rank, self.outcome, self.worst = rank, outcome, report

    def reason(self) -> str:
        """Say why the test was skipped, or expected to fail."""
        report = self.worst
        if hasattr(report, "wasxfail"):
            return _without(str(report.wasxfail), "reason: ")
        if self.outcome == "skipped":
            longrepr = report.longrepr
            return _without(str(longrepr[2]) if isinstance(longrepr, tuple) else _longrepr(report), "Skipped: ")
        return ""

    def output(self) -> str:
        """Say what the test printed and logged; phases repeat what came before them, so each section counts once."""
        sections = dict.fromkeys(tuple(section) for report in self._reports for section in report.sections)
        return _shortened("\n".join(f"--- {name} ---\n{content}" for name, content in sections), OUTPUT_LENGTH)

    @staticmethod
    def _outcome(report: Any) -> str:
        if report.outcome == "failed":
            return {"call": "failed", PHASE_OF_THE_DEAD: "crashed"}.get(report.when, "error")
        if hasattr(report, "wasxfail"):
            return "xfailed" if report.outcome == "skipped" else "xpassed"
        return str(report.outcome)


def _without(text: str, prefix: str) -> str:
    return text[len(prefix) :] if text.startswith(prefix) else text


class Recorder:
    """Records the tests of this process, which is the only one or a worker."""

    def __init__(self, settings: Settings, outlet: Outlet, worker: str) -> None:
        self._settings = settings
        self._outlet = outlet
        self._emit = outlet.emit
        self._worker = worker
        self._worker_as_json = _Real.encode(worker)
        self._roster = Roster(settings)
        self._ordering = Ordering(settings, self._roster)
        self._investigator = Investigator(settings, self._roster)
        self._current: Optional[Fold] = None
        self._session: Optional[pytest.Session] = None
        self._collecting = False
        self._deselected = 0
        self._stacks = ""
        self._is_outermost = False
        self.collected = 0
        self.counts: Dict[str, int] = {}
        self.why = ""

    def tell_touched(self, item: pytest.Item, touched: Sequence[Tuple[str, str]], fixtures: Sequence[str]) -> None:
        """Say which of the watched paths a test has touched, and how, and which wide fixtures it used."""
        nodeid, occurrence = self._roster.test(item)
        facts = {"worker": self._worker, "touched": touched, "fixtures": fixtures}
        self._emit("touched", nodeid=nodeid, occurrence=occurrence, **facts)

    # What is there to be run

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Say that this process is there, and make it answer the launcher's question where it stands."""
        self._emit("workers", worker=self._worker, pid=_Real.getpid())
        if self._settings.stack_directory and hasattr(signal, "SIGRTMIN"):
            self._stacks = os.path.join(self._settings.stack_directory, f"paritygate-{_Real.getpid()}.stack")
            descriptor = os.open(self._stacks, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            faulthandler.register(signal.SIGRTMIN + DUMP_SIGNAL_OFFSET, file=descriptor, all_threads=True)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        """Leave no empty file behind; the signal stays registered, for what hangs after the last test."""
        with contextlib.suppress(OSError):
            if self._stacks and os.stat(self._stacks).st_size == 0:
                os.unlink(self._stacks)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> Wrapper:
        """Put the ordering outside everything that was registered before collection, and, below, while it lasts."""
        self._collecting = True
        self._session = session
        session.config.pluginmanager.register(self._ordering, "paritygate-ordering")
        outcome = yield
        self._collecting = False
        if outcome.excinfo is not None:
            self._stop(outcome.excinfo[1])

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Let what was asked for and is not there stop nothing: other tests are judged, and this one is known to be missing.

        The list is private to pytest, which ends the session over it; a pytest without it ends the session, and says why.
        """
        unfound = getattr(self._session, "_notfound", None)
        if report.nodeid == "" and unfound:
            paths = (self._roster.asked_for(argument) for argument, _ in unfound)
            self._ordering.missing.update((path, None) for path in paths if "::" not in path)
            unfound.clear()

    @pytest.hookimpl
    def pytest_plugin_registered(self, plugin: object, manager: pytest.PytestPluginManager) -> None:
        """Move the ordering outside a conftest that was found during collection."""
        if self._collecting and plugin is not self._ordering:
            manager.unregister(self._ordering)
            manager.register(self._ordering, "paritygate-ordering")

    @pytest.hookimpl
    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Count what is left out."""
        self._deselected += len(items)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Wrapper:
        """Record what could not be collected."""
        outcome = yield
        if outcome.excinfo is not None or outcome.get_result().outcome == "passed":
            return
        report = outcome.get_result()
        nodeid = stable(self._roster.name(collector))
        if report.outcome == "skipped":
            fold = Fold()
            fold.add(report)
            self._emit("collect-skip", nodeid=nodeid, reason=fold.reason())
            return
        excinfo = getattr(getattr(report, "call", None), "excinfo", None)
        scene = None if excinfo is None else self._investigator.scene(_root_of(excinfo.value))
        failure = self._investigator.describe("collect", scene, _longrepr(report), (report.nodeid, None, ""))
        self._emit("collect-error", nodeid=nodeid, failure=failure)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Say which tests there are, and in which order they would run here; pytest asks after a collection that failed, too."""
        if not self._ordering.is_done:
            return
        for nodeid in self._ordering.missing:
            self._emit("collect-missing", nodeid=nodeid)
        tests = [self._roster.test(item) for item in session.items]
        self.collected = len(tests)
        excluded = self._ordering.excluded
        self._emit(
            "collected",
            tests=tests,
            deselected=self._deselected - len(excluded),
            excluded=excluded,
            unstable_ids=list(self._roster.unstable),
            pins=_pins(session, self._settings),
        )
        if self._worker:
            self._emit("groups", groups=[_group(item, self._roster) for item in session.items])
        around = session.config.hook.pytest_runtest_protocol.get_hookimpls()
        self._is_outermost = around[-1].plugin is self

    # What one test does

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Wrapper:
        """Hold nothing back beyond the last test, which is not always the one that was to be the last."""
        yield
        self._outlet.flush()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: Optional[pytest.Item]) -> Wrapper:
        """Record one test from before its setup until after its teardown.

        `pytest.exit`, an interrupt or a fault in a plugin would end the session: all tests that come later would be unknown,
        for what one has done. So it is that one's error, and the session goes on.
        """
        nodeid, occurrence = self._roster.test(item)
        test = f'{{"nodeid":{_Real.encode(nodeid)},"occurrence":{occurrence},"worker":{self._worker_as_json}'
        self._current = fold = Fold()
        self._outlet.send("test-start", test + "}")
        start = _Real.clock()
        outcome = yield
        failure = None
        if outcome.excinfo is not None:
            if fold.generation != _Process.generation():  # a child of the test; the session is its parent's
                _Real.leave(1)
            goes_on = _torn_down(item, nextitem)
            fold.outcome, failure = "error", self._session_ended(outcome.excinfo[1], item, goes_on=goes_on)
            if goes_on:
                item.session.testsfailed += 1
                outcome.force_result(True)  # noqa: FBT003 - the hook's own word for a test that was run
        end = _Real.clock()
        seconds = round(end - start, 6)
        self._current = None
        self.counts[fold.outcome] = self.counts.get(fold.outcome, 0) + 1
        if fold.outcome == "passed":
            facts = f'"outcome":"passed","seconds":{seconds},"span":[{start},{end}],"reason":"","failure":null,"output":""'
            self._pass(f"{test},{facts}}}", nextitem)
            return
        if failure is None and fold.outcome in RED:
            failure = self._failure(fold.worst)
        self._emit(
            "test",
            nodeid=nodeid,
            occurrence=occurrence,
            worker=self._worker,
            outcome=fold.outcome,
            seconds=seconds,
            span=(start, end),
            reason=fold.reason(),
            failure=failure,
            output=fold.output() if failure else "",
        )

    def _pass(self, facts: str, nextitem: Optional[pytest.Item]) -> None:
        """Record a test that passed.

        If the next one follows at once, the event waits for that one's start. Nothing of the project runs in between, where no
        plugin has wrapped itself around this one: a death or a hang there would be taken for this test's.
        """
        if nextitem is not None and self._is_outermost:
            self._outlet.hold("test", facts)
        else:
            self._outlet.send("test", facts)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in the report of a phase or a subtest, unless this is a child of the test."""
        if self._current is not None:
            if self._current.generation != _Process.generation():
                _Real.leave(0 if report.outcome == "passed" else 1)
            self._current.add(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_exception_interact(self, call: Any, report: Any) -> None:
        """Look at an exception while it is at hand, which costs nothing where there is none; what is seen rides on the report."""
        if getattr(report, "when", "collect") != "collect":
            report._paritygate = tuple(self._investigator.scene(call.excinfo.value))

    def _failure(self, report: Any) -> Dict[str, Any]:
        scene = getattr(report, "_paritygate", None)
        phase = "process" if report.when == PHASE_OF_THE_DEAD else str(report.when)
        return self._investigator.describe(phase, None if scene is None else Scene(*scene), _longrepr(report), report.location)

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        """Note what ends the session before its end, outside any test."""
        self._stop(excinfo.value)

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(self, excinfo: Any) -> None:
        """Note the fault that ends the session before its end."""
        self._stop(excinfo.value)

    def _stop(self, error: BaseException) -> None:
        if self.why:
            return
        self.why = _how_it_ends(error)
        if self._worker:
            self._emit("stopped", why=self.why, usage=isinstance(error, pytest.UsageError))

    def _session_ended(self, error: BaseException, item: pytest.Item, *, goes_on: bool) -> Dict[str, Any]:
        scene = self._investigator.scene(error)
        if isinstance(error, pytest.exit.Exception):
            scene = scene._replace(exception="pytest.exit")
        text = f"{_how_it_ends(error)} in this test ends the whole session of pytest"
        text += "; the tests after it were run all the same" if goes_on else ""
        return self._investigator.describe("session", scene, text, item.location)

    # What is carried from a worker to the controller by xdist

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_report_to_serializable(self) -> Wrapper:
        """Make reports fit to travel: xdist ends a worker over a property or a surrogate that execnet has no form for."""
        outcome = yield
        data = outcome.get_result()
        if data is not None:
            data.pop("_paritygate", None)
            if data.get("outcome") != "passed" or data.get("user_properties") or data.get("sections"):
                outcome.force_result(_portable(data))

    # A child of a test that returns from it must not run the rest of the session a second time

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_call(self) -> Wrapper:
        """Innermost around the test, before output that it shares with its parent is read; other phases: `logreport`."""
        generation = _Process.generation()
        outcome = yield
        if _Process.generation() != generation:
            _Real.leave(0 if outcome.excinfo is None else 1)


def _torn_down(item: pytest.Item, nextitem: Optional[pytest.Item]) -> bool:
    """Tear down a test that was left in the middle; False where that cannot be done, so that the next one could not run."""
    for _ in range(TEARDOWNS):
        try:
            item.ihook.pytest_runtest_teardown(item=item, nextitem=nextitem)
        except (KeyboardInterrupt, pytest.exit.Exception):  # from a fixture that is as determined as the test
            continue
        except BaseException:  # noqa: BLE001 - the test is an error as it is, and pytest has finished tearing down
            return True
        return True
    return False


def _root_of(error: BaseException) -> BaseException:
    """Say what made a module impossible to import; pytest wraps it in an error of its own."""
    if isinstance(error, pytest.Collector.CollectError) and error.__cause__ is not None:
        return error.__cause__
    return error


def _pins(session: pytest.Session, settings: Settings) -> Dict[str, Any]:
    """Say what asks for the pins of the wheel's plugin, and whether it gets them."""
    config = session.config
    plugin = sys.modules.get("paritygate.pytest_plugin")
    return {
        "suite": bool(config.getoption("parity_pin") or config.getini("parity_pin")),
        "tests": sum("pinned_environment" in getattr(item, "fixturenames", ()) for item in session.items),
        "in_force": settings.respect_pins and plugin is not None and config.pluginmanager.is_registered(plugin),
    }


def _group(item: pytest.Item, roster: Roster) -> str:
    """Say with which others a test must share a worker."""
    mark = item.get_closest_marker("xdist_group")
    if mark is not None:
        return f"group {mark.args[0] if mark.args else mark.kwargs.get('name', 'default')}"
    file = next((node for node in reversed(item.listchain()) if isinstance(node, pytest.File)), item)
    return f"file {roster.name(file)}"


def _portable(value: Any) -> Any:
    """Make a value out of what execnet can carry: anything else becomes its text."""
    if value is None or isinstance(value, (bool, float, bytes)):
        return value
    if isinstance(value, int):
        return value if abs(value) < 1 << 31 else str(value)
    if isinstance(value, str):
        return str.encode(value, "utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, Mapping):
        return {_portable(key): _portable(content) for key, content in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(_portable, value)) if type(value) in (list, tuple) else list(map(_portable, value))
    return _attempt(lambda: _portable(repr(value)), f"<{type(value).__name__}>")


class Alone:
    """The one process of a session without workers: ends the record."""

    def __init__(self, pipe: Pipe, recorder: Recorder) -> None:
        self._pipe = pipe
        self._recorder = recorder
        self._generation = _Process.generation()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Wrapper:
        """Say the last word."""
        if _Process.generation() != self._generation:  # a child of a test that left it by an exception which ends sessions
            _Real.leave(1)
        yield
        recorder = self._recorder
        self._pipe.emit(
            "finish", exit=int(session.exitstatus), collected=recorder.collected, counts=recorder.counts, why=recorder.why
        )


# -------------------------------------------------------------------------------------------------- sharing out over workers


def partition(groups: Mapping[str, int], workers: int) -> Dict[str, int]:
    """Share groups (with their sizes) out over workers: the largest first, each to the least loaded; by ids alone."""
    loads = [0] * workers
    owners = {}
    for group in sorted(groups, key=lambda group: (-groups[group], _digest(group))):
        owner = loads.index(min(loads))
        owners[group] = owner
        loads[owner] += groups[group]
    return owners


class Slot:
    """One worker's place: what it has to run, whoever holds it. A worker that replaces a dead one takes its slot."""

    def __init__(self) -> None:
        self.node: Any = None
        self.collection: Optional[Dict[Test, int]] = None
        self.left: List[Test] = []
        self.sent: Deque[Tuple[int, Test]] = collections.deque()

    def send(self) -> None:
        """Give the worker all that is left at once, and its dismissal, without which xdist holds back the last test."""
        if self.node is None or self.collection is None:
            return
        self.sent.extend((self.collection[test], test) for test in self.left if test in self.collection)
        self.left = []
        if self.sent:
            self.node.send_runtest_some([index for index, _ in self.sent])
        self.node.shutdown()


class StaticScheduler:
    """xdist's scheduling protocol, for a partition that is fixed before the first test runs."""

    def __init__(self, controller: Controller, config: pytest.Config, workers: int) -> None:
        self.config = config  # for the plugins that reach for it, as xdist's own schedulers have it
        self._controller = controller
        self._slots = [Slot() for _ in range(workers)]
        self._shared_out = False

    @property
    def nodes(self) -> List[Any]:
        """The workers that are there."""
        return [slot.node for slot in self._slots if slot.node is not None]

    @property
    def collection_is_completed(self) -> bool:
        """Whether every worker has collected."""
        return self._shared_out or all(slot.collection is not None for slot in self._slots)

    @property
    def tests_finished(self) -> bool:
        """Whether nothing is left to run."""
        return self._shared_out and not self.has_pending

    @property
    def has_pending(self) -> bool:
        """Whether something is left to run."""
        return any(slot.left or slot.sent for slot in self._slots)

    def add_node(self, node: Any) -> None:
        """Give a worker its slot: the first ones by their number, whatever order they come in, later ones a dead worker's.

        The slots of those that are done are free as well.
        """
        number = str(node.gateway.id).replace("gw", "", 1)
        preferred = int(number) if number.isdigit() else len(self._slots)
        free = [slot for slot in self._slots if slot.node is None]
        own = self._slots[preferred] if preferred < len(self._slots) else None
        slot = own if own in free else next((slot for slot in free if slot.left), free[0])
        assert slot is not None  # noqa: S101 - for the type checker: there are as many slots as workers
        slot.node = node

    def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
        """Note what a worker has collected, by the names that it told beforehand."""
        self._controller.check_refusals()
        tests = self._controller.collected_by(node)
        if tests is None:  # its collection failed, and why is about to be heard
            tests, collection = [], []
        if len(tests) != len(collection):
            raise pytest.UsageError(f"worker `{node.gateway.id}` changed its tests after collecting them; give it no such plugin")
        self._slot(node).collection = {test: index for index, test in enumerate(tests)}

    def schedule(self) -> None:
        """Share out what was collected, or give a replacement what its predecessor left."""
        self._controller.check_refusals()
        if not self._shared_out:
            self._share_out()
        for slot in self._slots:
            slot.send()

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:  # noqa: ARG002 - xdist's signature
        """Note that a worker is done with a test."""
        slot = self._slot(node)
        slot.sent = collections.deque(entry for entry in slot.sent if entry[0] != item_index)

    def mark_test_pending(self, item: str) -> None:
        """Run nothing a second time."""

    def remove_pending_tests_from_node(self, node: Any, indices: Sequence[int]) -> None:
        """Take nothing away from a worker: nothing was asked back."""

    def remove_node(self, node: Any) -> Optional[str]:
        """Free a worker's slot and say in which test it died, if it did."""
        self._controller.check_refusals()
        slot = self._slot(node)
        left = [test for _, test in slot.sent if not self._controller.is_done(test)]
        slot.node = slot.collection = None
        slot.sent = collections.deque()
        if hasattr(node, "workeroutput"):  # it said goodbye: what it did not run, it did not want to run
            return None
        crashed = self._controller.crashed(node)
        slot.left.extend(test for test in left if test != crashed)
        return None if crashed is None else crashed[0]

    def _share_out(self) -> None:
        sizes: Dict[str, int] = {}
        holders: Dict[Test, List[int]] = {}
        groups: Dict[Test, str] = {}
        for number, slot in enumerate(self._slots):
            for test, group in self._controller.groups_of(slot.node):
                if test not in groups:
                    sizes[group] = sizes.get(group, 0) + 1
                groups.setdefault(test, group)
                holders.setdefault(test, []).append(number)
        owners = partition(sizes, len(self._slots))
        asked = self._controller.owners_asked_for()
        for test, numbers in holders.items():
            owner = asked.get(test, owners[groups[test]])
            self._slots[owner if owner in numbers else numbers[0]].left.append(test)
        for slot in self._slots:
            slot.left.sort(key=(slot.collection or {}).__getitem__)
        self._shared_out = True
        uneven = [test for test, numbers in holders.items() if len(numbers) < len(self._slots)]
        self._controller.shared_out({slot.node.gateway.id: slot.left for slot in self._slots}, uneven)

    def _slot(self, node: Any) -> Slot:
        for slot in self._slots:
            if slot.node is node:
                return slot
        raise KeyError(node)


def _ending(status: int) -> Tuple[str, str]:
    """Say how a process ended, in one word and in the launcher's words."""
    if status < 0:
        name = signal.Signals(-status).name
        return name, f"the process was killed by `{name}`"
    return f"exit status {status}", f"the process ended itself (`os._exit` or the like) with exit status {status}"


class Controller:
    """The process that has workers: passes their events on, shares the tests out, and speaks for those that died."""

    def __init__(self, settings: Settings, pipe: Pipe) -> None:
        self._settings = settings
        self._pipe = pipe
        self._collected: Dict[str, List[Test]] = {}
        self._groups: Dict[str, List[str]] = {}
        self._refusals: List[str] = []
        self._said: Set[Tuple[str, str]] = set()
        self._pids: Dict[str, int] = {}
        self._running: Dict[str, Tuple[Test, float]] = {}
        self._done: Set[Test] = set()
        self._total = 0
        self._counts: Dict[str, int] = {}
        self._counting = threading.Lock()  # each worker has a thread here that receives from it
        self._why = ""

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Hand the settings to a worker, and pick its events out of what it sends."""
        node.workerinput["paritygate"] = self._settings.text
        receive = node.process_from_remote

        def process(message: Any) -> None:
            if isinstance(message, tuple) and message[0] == "paritygate":
                for kind, facts in message[1]["events"]:
                    if self._take(str(node.gateway.id), kind, _Real.decode(facts)):
                        self._pipe.hold(kind, facts)
                self._pipe.flush()
            else:
                receive(message)

        node.process_from_remote = process

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config) -> StaticScheduler:
        """Decide who runs what."""
        return StaticScheduler(self, config, self._settings.workers)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Wrapper:
        """Say the last word, once the workers are gone."""
        yield
        self._pipe.emit("finish", exit=int(session.exitstatus), collected=self._total, counts=self._counts, why=self._why)

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        """Note what ends the session before its end; where it comes from a worker, the worker has said it better."""
        self._why = self._why or _how_it_ends(excinfo.value)

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(self, excinfo: Any) -> None:
        """Note the fault that ends the session before its end."""
        self._why = self._why or _how_it_ends(excinfo.value)

    def collected_by(self, node: Any) -> Optional[List[Test]]:
        """Say which tests a worker has, in its order; None where it came to no end of collecting them."""
        return self._collected.get(str(node.gateway.id))

    def groups_of(self, node: Any) -> List[Tuple[Test, str]]:
        """Say which tests a worker has, each with the group that must stay together."""
        return list(zip(self.collected_by(node) or [], self._groups.get(str(node.gateway.id), [])))

    def owners_asked_for(self) -> Dict[Test, int]:
        """Say which worker, by its number, was asked to run which test; of all others nothing was asked."""
        shares = {worker.replace("gw", "", 1): some for worker, some in self._settings.shares.items()}
        return {test: int(number) for number, some in shares.items() if number.isdigit() for test in some}

    def check_refusals(self) -> None:
        """End the session where a worker found that it must not run."""
        if self._refusals:
            raise pytest.UsageError(self._refusals[0])

    def shared_out(self, workers: Dict[str, List[Test]], uneven: List[Test]) -> None:
        """Say who runs what, and which tests were not collected by every worker."""
        self._total = sum(map(len, workers.values()))
        self._pipe.emit("partition", workers=workers, uneven=uneven)

    def is_done(self, test: Test) -> bool:
        """Whether a test has its outcome."""
        return test in self._done

    def crashed(self, node: Any) -> Optional[Test]:
        """Give the test in which a worker died its outcome, unless the launcher has done so; say which test it is."""
        worker = str(node.gateway.id)
        if worker not in self._running:
            return None
        test, start = self._running.pop(worker)
        self._done.add(test)
        pid = self._pids.get(worker, 0)
        if os.path.exists(os.path.join(self._settings.stack_directory, f"paritygate-{pid}.timed_out")):
            self._count("timed_out")
            return test
        exception, message = _attempt(
            lambda: _ending(node.gateway._io.popen.wait(timeout=EXIT_SECONDS)), ("", "the process ended")
        )
        failure = {"phase": "process", "exception": exception, "message": message, "fingerprint": _digest("crashed").hex()}
        self._count("crashed")
        self._pipe.emit(
            "test",
            nodeid=test[0],
            occurrence=test[1],
            worker=worker,
            outcome="crashed",
            seconds=round(_Real.clock() - start, 6),
            span=(start, _Real.clock()),
            reason="",
            failure={**failure, "file": "", "line": 0, "text": ""},
            output="",
        )
        return test

    def _take(self, worker: str, kind: str, facts: Dict[str, Any]) -> bool:
        """Take one event of a worker; called by that worker's receiving thread. Says whether it is to be passed on."""
        if kind == "collected":
            self._collected[worker] = [(nodeid, occurrence) for nodeid, occurrence in facts["tests"]]
        elif kind == "groups":
            self._groups[worker] = facts["groups"]
            return False
        elif kind == "stopped":
            self._note_stop(facts["why"], usage=facts["usage"])
            return False
        elif kind == "workers":
            self._pids[worker] = facts["pid"]
        elif kind == "test-start":
            self._running[worker] = ((facts["nodeid"], facts["occurrence"]), _Real.clock())
        elif kind == "test":
            self._running.pop(worker, None)
            self._done.add((facts["nodeid"], facts["occurrence"]))
            self._count(facts["outcome"])
        return self._is_news(kind, facts)

    def _count(self, outcome: str) -> None:
        with self._counting:
            self._counts[outcome] = self._counts.get(outcome, 0) + 1

    def _note_stop(self, why: str, *, usage: bool) -> None:
        """Note why a worker ended before its end; where what it was asked for was wrong, it is so for all of them."""
        self._why = self._why or why
        if usage:
            self._refusals.append(why)

    def _is_news(self, kind: str, facts: Dict[str, Any]) -> bool:
        """Whether no other worker has said the same: all collect, one is heard."""
        if not kind.startswith("collect"):
            return True
        said = (kind, str(facts.get("nodeid", "")))
        new = said not in self._said
        self._said.add(said)
        return new


# ------------------------------------------------------------------------------------------------------- what is switched off


class Switch(NamedTuple):
    """An option that would make cells incomparable: where its value is, what it must be, how to call it."""

    name: str
    neutral: Any
    call: str


SWITCHES = (
    Switch("maxfail", 0, "-x/--maxfail"),
    Switch("lf", neutral=False, call="--last-failed"),
    Switch("failedfirst", neutral=False, call="--failed-first"),
    Switch("newfirst", neutral=False, call="--new-first"),
    Switch("stepwise", neutral=False, call="--stepwise"),
    Switch("stepwise_skip", neutral=False, call="--stepwise-skip"),
    Switch("usepdb", neutral=False, call="--pdb"),
    Switch("trace", neutral=False, call="--trace"),
    Switch("looponfail", neutral=False, call="--looponfail"),
    Switch("reverse", neutral=False, call="--reverse"),
    Switch("random_order_enabled", neutral=False, call="--random-order"),
)

# How workers are asked for and what they get to run, with what stands there where nobody asks.
DISTRIBUTION = (
    Switch("numprocesses", None, "-n"),
    Switch("maxprocesses", None, "--maxprocesses"),
    Switch("distload", neutral=False, call="-d"),
    Switch("dist", "no", "--dist"),
    Switch("tx", [], "--tx"),
    Switch("maxworkerrestart", None, "--max-worker-restart"),
)

# Plugins that run tests again or shuffle them, by the names they register under. They are taken out after they were
# configured, so that the marks they define stay known.
UNWANTED = {"rerunfailures": "pytest-rerunfailures", "flaky": "flaky", "random_order": "pytest-random-order"}


class Neutraliser:
    """Switches off, option by option, what would make cells incomparable, and keeps account of it."""

    def __init__(self, settings: Settings, config: pytest.Config) -> None:
        self.what: Dict[str, None] = {}
        self._workers = settings.workers
        self._asked = settings.arguments
        self._config = config
        self._is_worker = hasattr(config, "workerinput")
        self._project = _attempt(self._parse_project, None)

    def set_options(self) -> None:
        """Put every option in its place; may be called again, for what a conftest has set since."""
        option = self._config.option
        for switch in SWITCHES:
            if getattr(option, switch.name, None) or getattr(self._project, switch.name, None):
                self._note(f"`{switch.call}` is off")
            if hasattr(option, switch.name):
                setattr(option, switch.name, switch.neutral)
        if hasattr(option, "randomly_reorganize"):
            option.randomly_reorganize = False
        self._coverage(option)
        if hasattr(option, "numprocesses"):
            self._distribution(option)
        elif self._workers:
            raise pytest.UsageError("pytest-xdist is not there, and this cell needs workers; install it beside pytest")

    def take_out_plugins(self) -> None:
        """Unregister what would run tests again, or shuffle them."""
        manager = self._config.pluginmanager
        for name, call in UNWANTED.items():
            plugin = manager.get_plugin(name)
            if plugin is not None:
                manager.unregister(plugin)
                self._note(f"`{call}` is out")

    def _coverage(self, option: Any) -> None:
        if hasattr(option, "no_cov_should_warn"):
            option.no_cov_should_warn = False  # or it warns at the end, which `-W error` makes an internal error
        if getattr(option, "no_cov", False) and getattr(option, "cov_source", None):
            self._note("`--cov` is off")

    def _distribution(self, option: Any) -> None:
        if self._is_worker:
            option.loadgroup = False  # or the group's name becomes a part of the id
            return
        ours = self._own_distribution()
        for switch in DISTRIBUTION:
            # Ours are xdist's words for a scheduler that is not xdist's: whoever asks for that one does not get it either.
            fine = (switch.neutral, None if switch.name == "dist" else ours[switch.name])
            asked = getattr(self._project, switch.name, switch.neutral)
            if asked not in fine:
                self._note(self._instead(switch, asked))
            elif (found := getattr(option, switch.name, switch.neutral)) not in (*fine, ours[switch.name]):
                self._note(self._instead(switch, found))  # a conftest has set it
            setattr(option, switch.name, ours[switch.name])

    def _own_distribution(self) -> Dict[str, Any]:
        return {
            "numprocesses": self._workers,
            "maxprocesses": None,
            "distload": False,
            "dist": "load" if self._workers else "no",
            "tx": ["popen"] * self._workers,
            "maxworkerrestart": str(WORKER_RESTARTS),
        }

    def _instead(self, switch: Switch, asked: Any) -> str:
        """Say what comes instead; of the scheduler in the same words whatever the workers, since it never counts."""
        said = " ".join([switch.call, *(() if asked is True else asked if isinstance(asked, list) else (str(asked),))])
        if switch.name in ("numprocesses", "tx"):
            return f"`{said}` is replaced by {self._workers} workers"
        return f"`{said}` is set aside{'' if switch.name == 'maxworkerrestart' else ': workers share the tests out by file'}"

    def _parse_project(self) -> Any:
        """Parse what the project's configuration and the user add to the command line, which our arguments already override."""
        variable = shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))
        arguments = [*self._config.getini("addopts"), *variable, *self._asked]
        project = self._config._parser.parse_known_args(arguments)
        for plugin in project.plugins or ():
            if plugin in ("no:randomly", "no:xdist"):
                self._note(f"`-p {plugin}` is overridden")
        return project

    def _note(self, text: str) -> None:
        self.what[text] = None


# ----------------------------------------------------------------------------------------------------- how pytest finds all this


class Preparation:
    """What has to be done before any other plugin looks at its options, and said once the session is there."""

    def __init__(self, neutraliser: Neutraliser, emit: Optional[Emit]) -> None:
        self._neutraliser = neutraliser
        self._emit = emit

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Make the mark known, and look at the options again: a conftest may have changed them."""
        config.addinivalue_line("markers", "parity_exclude(reason): leave this test out of parity runs, and say why")
        self._neutraliser.set_options()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Look at the options a last time, after every `pytest_configure`, and say what was switched off."""
        self._neutraliser.set_options()
        self._neutraliser.take_out_plugins()
        if self._emit is not None and self._neutraliser.what:
            self._emit("neutralised", what=list(self._neutraliser.what))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take what the wheel's plugin offers: a project may ask for it without having it installed; in a cell it does nothing."""
    for name in ("locks", "freezes", "pin"):
        parser.getgroup("paritygate").addoption("--parity-" + name, action="store_true", default=False)
        parser.addini("parity_" + name, "asks for nothing in a cell", type="bool", default=False)


def respects_pins(config: pytest.Config) -> bool:
    """Say whether pins go over the cell's axes; the wheel's plugin asks, on workers not before they are configured."""
    if _CLAIM is not None:
        return _CLAIM.settings.respect_pins
    text = getattr(config, "workerinput", {}).get("paritygate")
    return text is not None and Settings(text).respect_pins


@pytest.hookimpl(hookwrapper=True)
def pytest_cmdline_main(config: pytest.Config) -> Wrapper:
    """Find out which part this process has, and register what it needs; a wrapper, to come before xdist reads its options."""
    workerinput = getattr(config, "workerinput", {})
    if "paritygate" in workerinput:
        _join_as_worker(config, workerinput)
    elif _CLAIM is not None and not workerinput:
        _take_charge(config, _CLAIM)
    yield


def _take_charge(config: pytest.Config, claim: Claim) -> None:
    pipe = Pipe(claim)
    neutraliser = Neutraliser(claim.settings, config)
    neutraliser.set_options()
    register = config.pluginmanager.register
    register(Preparation(neutraliser, pipe.emit), "paritygate-preparation")
    if claim.settings.workers:
        register(Controller(claim.settings, pipe), "paritygate-controller")
    else:
        recorder = Recorder(claim.settings, pipe, worker="")
        register(recorder, "paritygate-recorder")
        register(Alone(pipe, recorder), "paritygate-alone")
        if _TOUCHES is not None:
            register(_TOUCHES.witness(recorder.tell_touched), "paritygate-witness")


def _join_as_worker(config: pytest.Config, workerinput: Mapping[str, Any]) -> None:
    settings = Settings(workerinput["paritygate"])
    neutraliser = Neutraliser(settings, config)
    neutraliser.set_options()
    config.pluginmanager.register(Preparation(neutraliser, None), "paritygate-preparation")
    recorder = Recorder(settings, Channel(config), worker=workerinput["workerid"])
    config.pluginmanager.register(recorder, "paritygate-recorder")
    touches = _watch(settings)
    if touches is not None:
        config.pluginmanager.register(touches.witness(recorder.tell_touched), "paritygate-witness")


def _watch(settings: Settings) -> Any:
    """Begin to note what is touched of the paths that are to be watched; None where nothing is to be noted."""
    if settings.watched is None:
        return None
    return importlib.import_module("paritygate_touches").begin(settings.root, settings.watched)  # few cells need it


# What is done at import: before any code of the project runs, the way to the launcher is taken out of its reach.
_CLAIM = _claim()
_TOUCHES = _watch(_CLAIM.settings) if _CLAIM is not None and not _CLAIM.settings.workers else None
os.register_at_fork(after_in_child=functools.partial(_Process.forks.append, None))

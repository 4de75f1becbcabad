"""Notes which of some watched paths each test touches: what it opens, lists, looks for, writes, or gives to a program.

The recorder's companion, loaded only where the launcher names paths to watch; the standard library and pytest alone, CPython 3.8.
What happens while modules are imported counts for the tests whose module reaches them, and what a fixture of a wide scope does
for every test that uses it. What other programs do is not seen, only which paths they are given. PYTEST_DONT_REWRITE.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pathlib
import posixpath
import sys
import threading
from types import FrameType, FunctionType, ModuleType
from typing import Any, Callable, Dict, FrozenSet, Generator, Iterable, Iterator, List, Optional, Set, Tuple

import pytest

OPENED, LISTED, LOOKED_FOR, WRITTEN, GIVEN = "opened", "listed", "looked for", "written", "given to a program"
HOW = {
    **dict.fromkeys(("os.listdir", "os.scandir"), LISTED),
    **dict.fromkeys(("os.chdir", "sqlite3.connect", "ctypes.dlopen"), OPENED),
    **dict.fromkeys(("os.remove", "os.rename", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.utime"), WRITTEN),
    **dict.fromkeys(("os.mkdir", "os.rmdir"), WRITTEN),
    **dict.fromkeys(("subprocess.Popen", "os.exec", "os.posix_spawn"), GIVEN),
    "import": OPENED,
}
"""What audit events beside `open` say of the paths in their first two arguments."""
SETTINGS = frozenset({"pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "pyproject.toml", "tox.ini", "setup.cfg"})
"""Files that pytest itself reads for every test."""

WIDE = ("session", "package")

Touch = Tuple[str, str]
Touched = Dict[Touch, None]
Tell = Callable[[pytest.Item, List[Touch], List[str]], None]
Wrapper = Generator[None, Any, None]


class Watch:
    """Which paths are watched, as a tree-relative name each: files, and whole folders, whose names end with `/`."""

    def __init__(self, root: str, paths: Iterable[str]) -> None:
        self._tops = tuple({top.rstrip(os.sep) + os.sep for top in (root, os.path.realpath(root))})
        names = list(paths)
        self._files: FrozenSet[str] = frozenset(name for name in names if not name.endswith("/"))
        self._folders: FrozenSet[str] = frozenset(name[:-1] for name in names if name.endswith("/"))
        self._parents: FrozenSet[str] = frozenset(posixpath.dirname(name.rstrip("/")) for name in names)

    def inside(self, path: str) -> Optional[str]:
        """Say an absolute path relative to the tree; None for one outside it."""
        for top in self._tops:
            if path.startswith(top):
                return path[len(top) :]
            if path + os.sep == top:
                return ""
        return None

    def match(self, given: Any) -> Optional[str]:
        """Say which watched path this is, by its own name or by that of what links lead to."""
        return self._find(given, self._is_watched)

    def match_listing(self, given: Any) -> Optional[str]:
        """Say which folder this is, if a watched path lies right in it."""
        return self._find(given, lambda name: name in self._parents or self._is_watched(name))

    def _find(self, given: Any, wanted: Callable[[str], bool]) -> Optional[str]:
        path = _text(given)
        if path is None or "\0" in path:
            return None
        plain = os.path.normpath(path if os.path.isabs(path) else os.path.join(_here(), path))
        name = self.inside(plain)
        if name is None or wanted(name):
            return name
        name = self.inside(os.path.realpath(plain))
        return name if name is not None and wanted(name) else None

    def _is_watched(self, name: str) -> bool:
        if name in self._files:
            return True
        while name:
            if name in self._folders:
                return True
            name = posixpath.dirname(name)
        return False


def _here() -> str:
    """Say the current folder; the top of all where it is gone."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return os.sep


def _text(given: Any) -> Optional[str]:
    """Say a path as text; None for a descriptor and for what is no path."""
    if given is None or isinstance(given, int):
        return None
    try:
        return os.fsdecode(given)
    except Exception:  # noqa: BLE001 - a path may be an object of the project's, and whatever it raises is no affair of ours
        return None


def _paths(event: str, arguments: Tuple[Any, ...]) -> Iterable[Any]:
    """Choose the arguments of an audit event that may be paths."""
    if event == "import":  # the first is the module's name
        return arguments[1:2]
    if HOW[event] is LISTED:
        return [arguments[0] if arguments[0] is not None else "."]
    return _given(event, arguments) if HOW[event] is GIVEN else arguments[:2]


def _given(event: str, arguments: Tuple[Any, ...]) -> Iterator[str]:
    """List the words that a program is given, also those of a line for the shell, from the folder in which it is started."""
    folder = _text(arguments[2]) if event == "subprocess.Popen" else None
    words = arguments[1] if isinstance(arguments[1], (list, tuple)) else arguments[:2]
    for text in filter(None, map(_text, words)):
        for word in dict.fromkeys((text, *text.split())):
            yield os.path.join(folder or "", word)


class Touches:
    """What has been touched so far: by tests, by fixtures, by modules while they were imported, and by pytest for all."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._test: Optional[Touched] = None
        self._setups: List[Touched] = []
        self._fixtures: Dict[int, Tuple[Any, Touched]] = {}
        self._files: Dict[str, Touched] = {}
        self._imports: Dict[str, Set[str]] = {}
        self._session: Touched = {}
        self._busy = threading.local()

    def listen(self) -> None:
        """Look from now on, to the end of the process: there is no way to take an audit hook out again."""
        sys.addaudithook(self._hear)
        # What only looks whether something is there raises no audit event.
        for name in ("stat", "lstat", "access"):
            self._wrap(name)

    def _wrap(self, name: str) -> None:
        real = getattr(os, name)

        @functools.wraps(real)
        def look(path: Any, *arguments: Any, **options: Any) -> Any:
            if options.get("dir_fd") is None:
                self._look(path)
            return real(path, *arguments, **options)

        setattr(os, name, look)
        accessor = getattr(pathlib, "_NormalAccessor", None)  # Python before 3.11 has a copy there
        if getattr(accessor, name, None) is real:
            setattr(accessor, name, staticmethod(look))
        for known in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks, os.supports_effective_ids):
            if real in known:
                known.add(look)

    def _hear(self, event: str, arguments: Tuple[Any, ...]) -> None:
        """Take one audit event. Nothing is caught here beyond what is expected: a test's own timer may raise at any place."""
        if event == "open":
            self._note_open(arguments[0], arguments[1], arguments[2])
        elif event in HOW:
            how = HOW[event]
            for path in _paths(event, arguments):
                self._note(self._watch.match_listing if how is LISTED else self._watch.match, path, how)

    def _note_open(self, path: Any, mode: Any, flags: Any) -> None:
        writes = isinstance(flags, int) and (flags & os.O_ACCMODE == os.O_WRONLY or flags & os.O_TRUNC)
        text = _text(path)
        if text is None or (mode is None and not os.path.isabs(text)):  # of `os.open` it is not known relative to what
            return
        self._note(self._watch.match, text, WRITTEN if writes else OPENED)
        if self._test is None and text.endswith(".py"):
            self._note_import(text)

    def _look(self, path: Any) -> None:
        self._note(self._watch.match, path, LOOKED_FOR)

    def _note(self, match: Callable[[Any], Optional[str]], path: Any, how: str) -> None:
        if getattr(self._busy, "now", False):
            return
        self._busy.now = True
        try:
            name = match(path)
            if name is not None:
                self._put(name, how)
        finally:
            self._busy.now = False

    def _put(self, name: str, how: str) -> None:
        """Put a touch where it belongs; listing and looking count only where the project does it, not pytest or an import."""
        frame = sys._getframe()
        if how in (LISTED, LOOKED_FOR) and not self._is_projects(frame):
            return
        if self._test is not None:
            for into in (self._test, *self._setups):
                into[name, how] = None
            return
        importer = self._importer(frame)
        if importer is not None or name.endswith(".py"):
            self._files.setdefault(importer or name, {})[name, how] = None
            if name.endswith(".py"):
                self._files.setdefault(name, {})[name, how] = None
        elif posixpath.basename(name) in SETTINGS:
            self._session[name, how] = None

    def _note_import(self, path: str) -> None:
        name = self._watch.inside(os.path.abspath(path))
        importer = self._importer(sys._getframe())
        if name is not None and importer is not None:
            self._imports.setdefault(importer, set()).add(name)

    def _is_projects(self, frame: Optional[FrameType]) -> bool:
        for each in _frames(frame):
            file = each.f_code.co_filename
            if file.startswith("<frozen importlib") or f"{os.sep}_pytest{os.sep}" in file or f"{os.sep}pluggy{os.sep}" in file:
                return False
            if self._own(file) is not None:
                return True
        return False

    def _importer(self, frame: Optional[FrameType]) -> Optional[str]:
        """Say which file of the tree is being executed as a module."""
        for each in _frames(frame):
            if each.f_code.co_name == "<module>" and self._own(each.f_code.co_filename) is not None:
                return self._own(each.f_code.co_filename)
        return None

    def _own(self, file: str) -> Optional[str]:
        return None if file.startswith("<") else self._watch.inside(os.path.abspath(file))

    def witness(self, tell: Tell) -> "Witness":
        """Make the plugin that tells what each test touched."""
        return Witness(self, tell)

    # What belongs to a test

    def start(self) -> None:
        """Say that a test begins."""
        self._test, self._setups = {}, []

    def end(self, item: pytest.Item) -> List[Touch]:
        """Say what a test touched: its own first, then what its fixtures did, and the modules that it needs."""
        found = dict(self._test or {})
        self._test = None
        for fixture in self._used(item):
            found.update(self._fixtures[id(fixture)][1])
        for file in self._needed(item) if self._files else ():
            found.update(self._files.get(file, {}))
        found.update(self._session)
        return list(found)

    def wide_fixtures(self, item: pytest.Item) -> List[str]:
        """Name the project's own fixtures that a test uses and that are set up once a process, by file and name."""
        wide = (each for each in self._used(item) if each.scope in WIDE)
        files = ((self._own(getattr(getattr(each.func, "__code__", None), "co_filename", "<")), each) for each in wide)
        return [f"{file}::{each.argname}" for file, each in files if file is not None]

    def _used(self, item: pytest.Item) -> List[Any]:
        """List the fixtures of a test that were set up for it, or before it for others; what pytest knows is private to it."""
        definitions = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
        return [each for some in definitions.values() for each in some if id(each) in self._fixtures]

    @contextlib.contextmanager
    def setting_up(self, fixture: Any) -> Iterator[None]:
        """Note what a fixture does while it is set up, for all tests that use it."""
        _, touched = self._fixtures.setdefault(id(fixture), (fixture, {}))
        self._setups.append(touched)
        try:
            yield
        finally:
            self._setups.pop()

    def _needed(self, item: pytest.Item) -> List[str]:
        """List the files of the tree that a test's module, its conftests and the project's own plugins have imported."""
        file = self._watch.inside(str(item.path)) or ""
        modules = {name: module for module in tuple(sys.modules.values()) if (name := self._file_of(module)) is not None}
        plugins = [each for each in item.config.pluginmanager.get_plugins() if isinstance(each, ModuleType)]
        modules.update((name, each) for each in plugins if (name := self._file_of(each)) is not None)
        roots = [file, *(name for each in plugins if (name := self._file_of(each)) is not None and _is_above(name, file))]
        found: Dict[str, None] = {}
        while roots:
            name = roots.pop()
            if name not in found:
                found[name] = None
                roots += self._imports.get(name, ())
                roots += [other for each in _mentioned(modules.get(name)) if (other := self._file_of(each)) is not None]
        return list(found)

    def _file_of(self, module: Any) -> Optional[str]:
        file = module.__dict__.get("__file__") if isinstance(module, ModuleType) else None
        return self._watch.inside(file) if isinstance(file, str) else None


def _frames(frame: Optional[FrameType]) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _is_above(plugin: str, file: str) -> bool:
    """Say whether a plugin is there for the tests of a file: a conftest only for those at its place and below."""
    folder = posixpath.dirname(plugin)
    return posixpath.basename(plugin) != "conftest.py" or not folder or file.startswith(folder + "/")


def _mentioned(module: Optional[ModuleType]) -> Iterator[ModuleType]:
    """List the modules that a module has, or has something from; nothing but plain classes and functions is asked for it."""
    for value in tuple(vars(module).values()) if module is not None else ():
        origin = value
        if type(value) in (type, FunctionType):
            origin = sys.modules.get(str(value.__module__))
        if type(origin) is ModuleType:
            yield origin


class Witness:
    """Tells what each test touched; a plugin beside the recorder."""

    def __init__(self, touches: Touches, tell: Tell) -> None:
        self._touches = touches
        self._tell = tell

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Wrapper:
        """Tell of one test, from before its setup until after its teardown."""
        self._touches.start()
        yield
        touched, fixtures = self._touches.end(item), self._touches.wide_fixtures(item)
        if touched or fixtures:
            self._tell(item, touched, fixtures)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Wrapper:
        """Note whose doing it is."""
        with self._touches.setting_up(fixturedef):
            yield


def begin(root: str, paths: Iterable[str]) -> Touches:
    """Watch paths of the tree from now on; without any, or on an interpreter without audit hooks, only fixtures are noted."""
    names = list(paths)
    touches = Touches(Watch(root, names))
    if names and hasattr(sys, "addaudithook"):
        touches.listen()
    return touches

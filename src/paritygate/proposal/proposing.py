"""What is proposed for a project: settings with the reason for each, and a session of nox; nothing that it has already."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator

import msgspec
import tomli_w

from paritygate.config.file import OWN_FILE, SHARED_FILE
from paritygate.errors import ConfigError
from paritygate.proposal.looking import USUAL, Seen

NOXFILE = "noxfile.py"
IGNORE = ".gitignore"
SESSION = "parity"
IMPORTS = ("subprocess", "sys", "nox")
BODY = f'''
@nox.session(venv_backend="none")
def {SESSION}(session: nox.Session) -> None:
    """Run the parity gate; what follows `--` is the selection, and options."""
    if code := subprocess.call(["paritygate", "run", *session.posargs]):
        sys.exit(code)  # nox itself would turn every failure into 1
'''
NEEDS = {
    "a network": ("network", "internet", "online", "remote_data", "web"),
    "a GPU": ("gpu", "cuda", "needs_gpu"),
    "a Docker engine": ("docker", "needs_docker", "testcontainers"),
    "a browser": ("browser", "selenium", "playwright"),
}
"""What a cell does not have, and the names of markers by which projects say that a test needs it."""


class Writing(msgspec.Struct, frozen=True, kw_only=True):
    """A file as it is to be: its name, what is new in it, and all of it; `is_new` where there is none yet."""

    name: str
    added: str
    content: str
    is_new: bool


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """What to write, and in words what is there already."""

    writings: tuple[Writing, ...]
    kept: tuple[str, ...]


def propose(seen: Seen) -> Proposal:
    """Propose what is missing; raises `ConfigError` where a file is so that nothing can be put at its end."""
    writings, kept = [], []
    if seen.source:
        kept.append(f"configured already: `{seen.source}`")
    else:
        writings.append(_settings(seen))
    if seen.noxfile is not None and SESSION in _names(seen.noxfile):
        kept.append(f"`{NOXFILE}` has `{SESSION}` already")
    else:
        writings.append(_session(seen))
    if seen.reports:
        writings.append(_ignored(seen))
    return Proposal(writings=tuple(writings), kept=tuple(kept))


def _ignored(seen: Seen) -> Writing:
    """Have git ignore reports, which tell of the tree and must not be a part of it."""
    place = seen.project / IGNORE
    added = "\n".join(
        ("# Reports of paritygate tell of the tree, and are no part of it.", *(f"/{name}" for name in seen.reports), "")
    )
    before = place.read_bytes().decode("utf-8", "surrogateescape") if place.is_file() else ""
    return Writing(name=IGNORE, added=added, content=_appended(before, added), is_new=not place.is_file())


def _settings(seen: Seen) -> Writing:
    """Put the table at the end of `pyproject.toml`, where there is one, else into a file of its own."""
    shared = seen.project / SHARED_FILE
    if not shared.is_file():
        text = "\n".join(_lines(seen, "")) + "\n"
        return Writing(name=OWN_FILE, added=text, content=text, is_new=True)
    before = shared.read_bytes().decode()
    added = "\n".join(_lines(seen, "tool.paritygate")) + "\n"
    after = _appended(before, added)
    if not _only_added(before, after):
        problem = (
            f"no table can be put at its end: write `{OWN_FILE}`, with what follows `[tool.paritygate]` in the documentation"
        )
        raise ConfigError(SHARED_FILE, (problem,))
    return Writing(name=SHARED_FILE, added=added, content=after, is_new=False)


def _lines(seen: Seen, table: str) -> Iterator[str]:
    if table:
        yield f"[{table}]"
    yield f"# {_why(seen)}"
    yield f"selection = {_inline(_selection(seen))}"
    yield "# Seconds that one test may take; its stack is shown then, and the others go on."
    yield "test-timeout = 300"
    if left_out := dict(_left_out(seen)):
        yield ""
        yield f"[{f'{table}.' if table else ''}exclude]"
        yield "# Cells have none of these: tests with such a marker are left out, and listed with the reason."
        yield from tomli_w.dumps(left_out).splitlines()


def _selection(seen: Seen) -> tuple[str, ...]:
    if seen.testpaths:
        return seen.testpaths
    return next(((each,) for each in USUAL if seen.tests and all(path.startswith(f"{each}/") for path in seen.tests)), ())


def _why(seen: Seen) -> str:
    if seen.testpaths:
        return f"What pytest is asked for: the `testpaths` of `{seen.pytest_file}`."
    return "What pytest is asked for: folders, files, test ids, `-k` and `-m`; empty: whatever pytest finds."


def _inline(words: tuple[str, ...]) -> str:
    return f"[{', '.join(tomli_w.dumps({'x': each}).strip().removeprefix('x = ') for each in words)}]"


def _left_out(seen: Seen) -> Iterator[tuple[str, str]]:
    for need, names in NEEDS.items():
        yield from ((marker, f"needs {need}") for marker in seen.markers if marker in names)


def _appended(before: str, added: str) -> str:
    """Put text at the end of a file, after an empty line, with the file's own line ends."""
    end = "\r\n" if "\r\n" in before else "\n"
    gap = "" if not before.strip() else end if before.endswith("\n") else 2 * end
    return before + gap + added.replace("\n", end)


def _only_added(before: str, after: str) -> bool:
    """Say whether a document means the same with our table in it as without."""
    try:
        old, new = (tomllib.loads(text.replace("\r\n", "\n")) for text in (before, after))
    except tomllib.TOMLDecodeError:
        return False
    new["tool"].pop("paritygate")
    return old == {key: value for key, value in new.items() if key != "tool" or value or "tool" in old}


def _session(seen: Seen) -> Writing:
    """Add the session to the `noxfile.py` that is there, with the imports that it lacks, or make one."""
    if seen.noxfile is None:
        text = "\n".join(f"import {each}" for each in IMPORTS[:2]) + f"\n\nimport {IMPORTS[2]}\n\n{BODY}"
        return Writing(name=NOXFILE, added=text, content=text, is_new=True)
    before = (seen.project / NOXFILE).read_bytes().decode("utf-8", "surrogateescape")
    lacking = [each for each in IMPORTS if each not in _names(before)]
    added = "".join(f"import {each}\n" for each in lacking) + ("\n" if lacking else "") + BODY
    return Writing(name=NOXFILE, added=added.lstrip("\n"), content=_appended(before, added), is_new=False)


def _names(text: str) -> frozenset[str]:
    """List the names that a module binds at its top; raises `ConfigError` for what is no Python."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError) as error:
        raise ConfigError(NOXFILE, (f"it is not Python: {error}",)) from error
    found = {name for node in body for name in _names_of(node)}
    found |= {alias.asname or alias.name for node in body if isinstance(node, ast.Import) for alias in node.names}
    return frozenset(found)


def _names_of(node: ast.stmt) -> frozenset[str]:
    """Name what a statement defines: a function by its own name, and by the one that it has as a session of nox."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return frozenset()
    words = (word for each in node.decorator_list if isinstance(each, ast.Call) for word in each.keywords if word.arg == "name")
    given = {word.value.value for word in words if isinstance(word.value, ast.Constant) and isinstance(word.value.value, str)}
    return frozenset({node.name, *given})

"""Compare what `--changed` chooses for real commits with what has to run, as coverage tells it.

    python bench/changed.py CLONE COMMIT... [--python INTERPRETER]

Every commit is checked out of a copy of CLONE and held against its parent. Each test file runs by itself, under coverage (with
what it starts) and an audit hook, by an INTERPRETER that has coverage, pytest and whatever else the tests ask for. It is
- needed, where its process ran any line of a touched Python file, importing it included, or opened a touched file of another
  kind;
- strictly needed, where it ran a line inside a function that the commit changes, imported a file that the commit changes outside
  of functions, or opened a touched file of another kind.
A commit's configuration is not counted, as pytest opens it each time. Nothing that is needed by either may be missed.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from paritygate.changed.project import CONFIGURATION
from paritygate.errors import NoVerdictError
from paritygate.gate import narrowing
from paritygate.gate.request import Request, World
from paritygate.outcomes.artifact import Changed

SECONDS = 300
PLUGIN = """\
import atexit, os, sys
TOP, OPENED, OWN = os.environ["BENCH_TOP"], set(), os.getpid()
def hook(event, arguments):
    if event == "open" and isinstance(arguments[0], str | bytes):
        OPENED.add(os.path.abspath(os.fsdecode(arguments[0])))
def leave():
    inside = sorted(os.path.relpath(each, TOP) for each in OPENED if each.startswith(TOP + os.sep))
    with open(os.environ["BENCH_OPENED"], "a") as stream:
        stream.write("".join(each + "\\n" for each in inside))
sys.addaudithook(hook)
atexit.register(leave)
"""
READING = """\
import coverage, json, sys
data = coverage.CoverageData(sys.argv[1])
data.read()
print(json.dumps({name: sorted(data.lines(name) or ()) for name in data.measured_files()}))
"""
HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")
TITLES = ("project", "commit", "touched", "tests", "needed", "strictly", "chosen", "chosen/needed", "missed", "failing")
NOWHERE = World(
    connect=lambda: sys.exit("no engine is asked for"),
    variables=os.environ,
    version="",
    now=lambda: datetime.now(tz=UTC),
    monotonic=time.monotonic,
    sleep=time.sleep,
    say=lambda _: None,
    watch=lambda *_: None,
)


def git(folder: Path, *words: str) -> str:
    """Ask git in a folder."""
    return subprocess.run(("git", *words), cwd=folder, capture_output=True, text=True, check=True).stdout


def choose(folder: Path) -> Changed | None:
    """Say what `--changed` chooses; None where no test can see the patch."""
    try:
        return narrowing.preview(Request(project=folder, changed="HEAD~1"), NOWHERE)
    except NoVerdictError:
        return None


def run(folder: Path, test: str, python: str) -> tuple[dict[str, list[int]], set[str], bool]:
    """Run one test file: the lines that ran of each file, the files that were opened, and whether pytest was content."""
    with tempfile.TemporaryDirectory() as aside:
        (Path(aside) / "bench_opened.py").write_text(PLUGIN, encoding="utf-8")
        rules = f"[run]\nsource = {folder}\ndata_file = {aside}/data\nparallel = true\npatch = subprocess\n"
        (Path(aside) / "rules").write_text(rules, encoding="utf-8")
        paths = os.pathsep.join((str(folder / "src"), str(folder), aside))
        told = {"PYTHONPATH": paths, "BENCH_TOP": str(folder), "BENCH_OPENED": f"{aside}/opened", "PYTHONDONTWRITEBYTECODE": "1"}
        coverage = (python, "-m", "coverage")
        pytest = ("-m", "pytest", "-q", "-p", "bench_opened", "-p", "no:cacheprovider", "-W", "default", "-o", "addopts=", test)
        words = (*coverage, "run", f"--rcfile={aside}/rules", *pytest)
        none, env = subprocess.DEVNULL, os.environ | told
        try:
            done = subprocess.run(words, cwd=folder, env=env, stdin=none, capture_output=True, check=False, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            sys.exit(f"`{test}` takes more than {SECONDS} s")
        subprocess.run((*coverage, "combine", "-q", f"--rcfile={aside}/rules"), cwd=aside, capture_output=True, check=False)
        read = subprocess.run((python, "-c", READING, f"{aside}/data"), capture_output=True, text=True, check=True)
        opened = Path(aside, "opened")
        files = set(opened.read_text(encoding="utf-8").splitlines()) if opened.exists() else set()
        ran = {os.path.relpath(name, folder): lines for name, lines in json.loads(read.stdout).items() if lines}
        return ran, files, done.returncode == 0


def changed_lines(folder: Path, path: str) -> set[int] | None:
    """List the lines of the functions that a commit changes in a file; None where it changes something outside of them."""
    try:
        tree = ast.parse((folder / path).read_bytes())
    except (OSError, SyntaxError):
        return None
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [(node.body[0].lineno, node.end_lineno or 0) for node in ast.walk(tree) if isinstance(node, kinds)]
    found: set[int] = set()
    for match in filter(None, map(HUNK.match, git(folder, "diff", "-U0", "HEAD~1", "HEAD", "--", path).splitlines())):
        first, count = int(match[1]), int(match[2] or 1)
        around = [body for body in bodies if body[0] <= first and first + max(count, 1) - 1 <= body[1]]
        if not around:
            return None
        found |= set(range(*max(around))) | {max(around)[1]}
    return found


def compare(folder: Path, commit: str, python: str) -> tuple[object, ...]:
    """Hold one commit's choice against what ran."""
    git(folder, "checkout", "-q", "--force", commit)
    git(folder, "clean", "-ffdxq")
    touched = [path for path in git(folder, "diff", "--name-only", "-z", "HEAD~1", "HEAD").split("\0") if path]
    chosen = choose(folder)
    whole = list(chosen.tests) if chosen and chosen.everything else tests_of(folder)
    lines = {path: changed_lines(folder, path) for path in touched if path.endswith(".py")}
    needed, strictly, failing = set[str](), set[str](), 0
    for test in whole:
        ran, opened, content = run(folder, test, python)
        failing += not content
        others = {path for path in touched if path not in lines and Path(path).name not in CONFIGURATION and path in opened}
        if others or any(path in ran for path in lines):
            needed.add(test)
        if others or any(path in ran and (inside is None or inside.intersection(ran[path])) for path, inside in lines.items()):
            strictly.add(test)
    took = set(whole) if chosen and chosen.everything else set(chosen.tests if chosen else ())
    ratio = f"{len(took) / len(needed):.2f}" if needed else "-"
    widened = [path for path, each in (chosen.files if chosen else {}).items() if each.everything]
    said = f"{len(took)}{f' (all: {widened[0]})' if widened else ''}"
    missed = " ".join(sorted(needed - took)) or 0
    return folder.name, commit[:9], len(touched), len(whole), len(needed), len(strictly), said, ratio, missed, failing


def tests_of(folder: Path) -> list[str]:
    """List every test file that would run without `--changed`: what a touched configuration file chooses."""
    with (folder / "tox.ini").open("a", encoding="utf-8") as stream:
        stream.write("\n")
    everything = narrowing.preview(Request(project=folder, changed="HEAD"), NOWHERE)
    git(folder, "checkout", "-q", "--force", "HEAD")
    git(folder, "clean", "-ffdxq")
    return list(everything.tests)


def main() -> None:
    """Print a row for each commit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", type=Path)
    parser.add_argument("commits", nargs="+", metavar="commit")
    parser.add_argument("--python", default=sys.executable)
    arguments = parser.parse_args()
    print("| " + " | ".join(TITLES) + " |\n" + "|---" * len(TITLES) + "|")
    with tempfile.TemporaryDirectory() as aside:
        folder = Path(aside).resolve() / arguments.clone.absolute().name
        git(arguments.clone, "clone", "-q", "--no-checkout", str(arguments.clone.resolve()), str(folder))
        for commit in arguments.commits:
            print("| " + " | ".join(map(str, compare(folder, commit, arguments.python))) + " |", flush=True)


if __name__ == "__main__":
    main()

"""Time the case-insensitive filesystem against a plain folder, work by work in turn, in one run.

    python bench/casefs.py [--plain FOLDER] [--program CASEFS] [--rounds 5] [--tests 300] [--fold on|off]

Takes root and /dev/fuse, and a C compiler unless `--program` names a daemon. Run in a container, `--plain` is on its overlayfs.
The result is a table of medians with the spread from least to most, and their ratio; then the start of the daemon and its memory
at 100,000 files.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "images" / "casefs"
MANY = 100_000
SUITE = """\
import json, mmap, os, shutil, sqlite3
import pytest

@pytest.mark.parametrize("number", range({tests}))
def test_touches_files(number, tmp_path):
    for name in ("one", "two", "three"):
        (tmp_path / name).write_text(json.dumps({{"number": number}}))
    assert json.loads((tmp_path / "one").read_text())["number"] == number
    os.rename(tmp_path / "one", tmp_path / "four")
    os.symlink("four", tmp_path / "link")
    os.link(tmp_path / "two", tmp_path / "hard")
    os.chmod(tmp_path / "three", 0o600)
    shutil.copytree(tmp_path, tmp_path.with_name(tmp_path.name + "-copy"), symlinks=True)
    if number % 10 == 0:
        connection = sqlite3.connect(tmp_path / "db")
        connection.execute("create table t(a)")
        connection.execute("insert into t values(1)")
        connection.commit()
        connection.close()
    assert len(list(tmp_path.iterdir())) >= 5
"""


class Daemon:
    """A daemon that serves a folder; says how long it took to be ready."""

    def __init__(self, program: Path, folding: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="casefs-bench-"))
        start = time.perf_counter()
        command = [program, "--tmpfs=4g", f"--fold={folding}", "--status-fd=1", self.folder]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.ready = self.process.stdout.readline()
        self.folder.stat()
        self.seconds = time.perf_counter() - start
        assert self.ready.startswith("ready "), self.ready

    def resident(self) -> int:
        """Give the memory that the daemon itself has, in bytes."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGESIZE")

    def close(self) -> None:
        """Unmount, and wait for the end."""
        subprocess.run(["umount", "--lazy", self.folder], check=True)
        self.process.wait()
        self.folder.rmdir()


def lay_out(folder: Path, tests: int) -> None:
    """Make what the works need: a suite, a repository, and a tree of 500 files."""
    (folder / "suite").mkdir(parents=True)
    (folder / "suite" / "test_files.py").write_text(SUITE.format(tests=tests), encoding="utf-8")
    for number in range(500):
        path = folder / "tree" / f"package{number % 20}" / f"module_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"X = {number}\n" * 20, encoding="utf-8")
    shutil.copytree(folder / "tree", folder / "repository" / "tree")
    git = ["git", "-C", folder / "repository", "-c", "user.name=N", "-c", "user.email=n@example.invalid"]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "all"]):
        subprocess.run([*git, *words], check=True)


def run_suite(folder: Path) -> None:
    """Run the suite, with its temporary folder and its caches in the folder."""
    environment = {**os.environ, "TMPDIR": str(folder), "HOME": str(folder), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "--rootdir", folder / "suite", folder / "suite"]
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)


def stat_storm(folder: Path) -> None:
    """Walk the tree and look at every file, 20 times."""
    for _ in range(20):
        for path, _, names in os.walk(folder / "tree"):
            for name in names:
                Path(path, name).stat()


def create_read_delete(folder: Path) -> None:
    """Make 2,000 files, read them and take them away."""
    path = folder / "many"
    path.mkdir()
    for number in range(2000):
        (path / f"file{number}").write_bytes(b"x" * 100)
    for number in range(2000):
        (path / f"file{number}").read_bytes()
    for number in range(2000):
        (path / f"file{number}").unlink()
    path.rmdir()


def clone(folder: Path) -> None:
    """Clone the repository within the folder, by git's own protocol."""
    source = f"file://{folder}/repository"
    command = ["git", "-c", "safe.directory=*", "clone", "--quiet", source, folder / "clone"]
    subprocess.run(command, check=True)
    shutil.rmtree(folder / "clone")


def make_environment(folder: Path) -> None:
    """Make a virtual environment with pip in it, which unpacks about a thousand files."""
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    shutil.rmtree(folder / "venv")


def install_editable(folder: Path) -> None:
    """Install a small project editable into an environment that is there already."""
    project = folder / "project"
    if not project.exists():
        project.mkdir()
        (project / "setup.py").write_text(
            "from setuptools import setup\nsetup(name='thing', version='1', py_modules=['thing'])\n"
        )
        (project / "thing.py").write_text("", encoding="utf-8")
        subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", folder / "installed"], check=True)
    pip = [folder / "installed" / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--no-build-isolation", "--editable", project], check=True, env={**os.environ, "TMPDIR": str(folder)})


WORKS: dict[str, Callable[[Path], None]] = {
    "pytest, heavy on files": run_suite,
    "stat storm": stat_storm,
    "2,000 files made, read, deleted": create_read_delete,
    "git clone": clone,
    "virtual environment": make_environment,
    "pip install -e": install_editable,
}


def seconds(work: Callable[[Path], None], folder: Path) -> float:
    """Time one work."""
    start = time.perf_counter()
    work(folder)
    return time.perf_counter() - start


def spread(times: list[float]) -> str:
    """Say a median and its spread, in milliseconds."""
    return f"{statistics.median(times) * 1000:9.1f} ({min(times) * 1000:.1f} to {max(times) * 1000:.1f})"


def compare(plain: Path, folder: Path, rounds: int) -> None:
    """Print the table."""
    print(f"{'':32} {'plain, ms':>30} {'casefs, ms':>30} {'ratio':>7} {'of least':>9}")
    for name, work in WORKS.items():
        ours: list[float] = []
        theirs: list[float] = []
        for number in range(rounds):
            for times, where in ((ours, folder), (theirs, plain)) if number % 2 else ((theirs, plain), (ours, folder)):
                times.append(seconds(work, where))
        ratio = statistics.median(ours) / statistics.median(theirs)
        print(f"{name:32} {spread(theirs):>30} {spread(ours):>30} {ratio:6.2f}x {min(ours) / min(theirs):8.2f}x", flush=True)


def measure_start(program: Path, folding: str, rounds: int) -> None:
    """Print how long a daemon takes to be ready."""
    times = []
    for _ in range(rounds * 4):
        with closing(Daemon(program, folding)) as daemon:
            times.append(daemon.seconds)
    print(f"start to first stat, ms: {spread(times).strip()}")


def measure_memory(program: Path, folding: str) -> None:
    """Print what 100,000 files that the kernel knows cost the daemon."""
    with closing(Daemon(program, folding)) as daemon:
        empty = daemon.resident()
        for number in range(MANY):
            folder = daemon.folder / f"folder{number // 1000}"
            if number % 1000 == 0:
                folder.mkdir()
            os.close(os.open(f"{folder}/module_name_{number}.py", os.O_CREAT | os.O_WRONLY))
        descriptors = len(list(Path(f"/proc/{daemon.process.pid}/fd").iterdir()))
        full = daemon.resident()
        print(f"daemon: {empty / 1e6:.1f} MB empty, {full / 1e6:.1f} MB and {descriptors} descriptors at {MANY:,} files")


def main() -> None:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plain", type=Path, help="a folder on the filesystem to compare with (a temporary one)")
    parser.add_argument("--program", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tests", type=int, default=300)
    parser.add_argument("--fold", choices=["on", "off"], default="on")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        program = given.program or Path(scratch, "casefs")
        if not given.program:
            subprocess.run(["make", "--silent", "-C", SOURCES, f"OUT={scratch}"], check=True)
        plain = Path(tempfile.mkdtemp(dir=given.plain or scratch))
        with closing(Daemon(program, given.fold)) as daemon:
            for folder in (plain, daemon.folder):
                lay_out(folder, given.tests)
            compare(plain, daemon.folder, given.rounds)
        shutil.rmtree(plain)
        measure_start(program, given.fold, given.rounds)
        measure_memory(program, given.fold)


if __name__ == "__main__":
    main()

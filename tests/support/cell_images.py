"""An image with everything that a cell needs, made without any index: pytest comes from the interpreter that runs the tests."""

from __future__ import annotations

import importlib.metadata
import io
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import paritygate
from paritygate.docker_engine.requests import KIND_LABEL, TEMPORARY, Commit, ContainerRequest
from paritygate.docker_engine.verbs import Engine

GUEST = Path(paritygate.__file__).parent / "guest"
DISTRIBUTIONS = ("pytest", "pluggy", "iniconfig", "packaging", "pygments", "pytest-xdist", "execnet", "pytest-randomly")
SENTINEL = "5e471e1"
RECIPES = Path(__file__).parents[2] / "images"
SET_UP = """
set -e
groupadd -g 1000 parity
useradd -u 1000 -g 1000 -m -d /parity/home parity
python3 -m venv --without-pip /opt/paritygate/venv
ln -s "$(readlink -f "$(command -v python3)")" /opt/paritygate/python
cp -r /opt/paritygate/packages/. /opt/paritygate/venv/lib/python3.*/site-packages/
"""


def make(engine: Engine, base: str, tag: str) -> None:
    """Make the image that trees are put on."""
    request = ContainerRequest(
        image=base,
        command=("/bin/sh", "-c", SET_UP),
        kind="install",
        name="test-image",
        capabilities=("CHOWN", "DAC_OVERRIDE", "FOWNER"),
        seconds=300.0,
    )
    with engine.container(request) as container:
        container.put("/", [packed(dict(contents()), owner=0)])
        container.start()
        end = container.wait(120)
        said = b"".join(data for _, data in container.logs()).decode()
        assert end is not None, said
        assert end.exit_code == 0, said
        container.commit(Commit(tag=tag, labels={KIND_LABEL: TEMPORARY}, environment={}))


@contextmanager
def with_tree(engine: Engine, image: str, tag: str, files: Mapping[str, str], script: str = "true") -> Iterator[None]:
    """Put a tree on top, owned by the tests' user, for as long as the context lasts; then root runs a script."""
    request = ContainerRequest(
        image=image,
        command=("/bin/sh", "-c", script),
        kind="snapshot",
        name="test-tree",
        capabilities=("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID"),
        seconds=300.0,
    )
    with engine.container(request) as container:
        tree = {f"parity/workspace/{name}": content.encode() for name, content in files.items()}
        container.put("/", [packed(tree, owner=1000)])
        container.put("/opt/paritygate", [packed({"sentinel": SENTINEL.encode()}, owner=0)])
        if script != "true":
            container.start()
            end = container.wait(60)
            assert end is not None, script
            assert end.exit_code == 0, b"".join(data for _, data in container.logs()).decode()
        container.commit(Commit(tag=tag, labels={KIND_LABEL: TEMPORARY}, environment={}))
    try:
        yield
    finally:
        engine.remove_image(tag)


def add_daemon(engine: Engine, image: str, tag: str, folder: Path) -> None:
    """Put the filesystem's daemon, compiled here and without libraries of its own, on top of an image."""
    add_compiled(engine, image, tag, ("casefs", "casefs", folder))


def add_compiled(engine: Engine, image: str, tag: str, made: tuple[str, str, Path]) -> None:
    """Put what is compiled here on top of an image; `made` names its sources, it and a folder to make it in."""
    sources, name, folder = made
    command = ["make", "--silent", "-C", str(RECIPES / sources), "STATIC=1", f"OUT={folder}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    request = ContainerRequest(image=image, command=("true",), kind="install", name="test-daemon", seconds=300.0)
    with engine.container(request) as container:
        container.put("/opt/paritygate", [packed({name: (folder / name).read_bytes()}, owner=0, mode=0o755)])
        container.commit(Commit(tag=tag, labels={KIND_LABEL: TEMPORARY}, environment={}))


def contents() -> Iterator[tuple[str, bytes]]:
    """Yield the guest's files and those of the distributions."""
    for path in sorted(GUEST.rglob("*.py")):
        yield f"opt/paritygate/guest/{path.relative_to(GUEST)}", path.read_bytes()
    for name in DISTRIBUTIONS:
        for installed in importlib.metadata.files(name) or ():
            if ".." not in installed.parts and installed.suffix != ".pyc":
                yield f"opt/paritygate/packages/{installed}", installed.read_binary()


def packed(files: Mapping[str, bytes], owner: int, mode: int = 0o644) -> bytes:
    """Pack files and the folders above them, except those that every system has."""
    folders = {str(parent) for name in files for parent in Path(name).parents if str(parent) not in {".", "opt"}}
    result = io.BytesIO()
    with tarfile.open(fileobj=result, mode="w") as tar:
        for name in sorted(folders):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode, folder.uid, folder.gid = tarfile.DIRTYPE, 0o755, owner, owner
            tar.addfile(folder)
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode, member.uid, member.gid = len(content), mode, owner, owner
            tar.addfile(member, io.BytesIO(content))
    return result.getvalue()

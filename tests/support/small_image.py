"""A cell's image as small as can be, of what this computer has: its interpreter, its libraries, pytest. No engine is needed."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from paritygate.docker_engine.requests import KIND_LABEL, TEMPORARY, ImageRecord
from paritygate.docker_engine.verbs import Engine
from tests.support import cell_images

STDLIB = Path(sys.base_prefix) / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}"
INTERPRETER = f"/usr/local/bin/{STDLIB.name}"
LEFT_OUT = frozenset(
    {"__pycache__", "site-packages", "test", "tests", "ensurepip", "idlelib", "tkinter", "lib2to3", "pydoc_data"}
)
SYSTEM = ("/usr/share/zoneinfo/UTC", "/usr/lib/locale/C.utf8")
LINKS = {
    "bin": "usr/bin",
    "lib": "usr/lib",
    "lib64": "usr/lib64",
    "opt/paritygate/python": INTERPRETER,
    "opt/paritygate/venv/bin/python": INTERPRETER,
}
TEXTS = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nparity:x:1000:1000::/parity/home:/bin/sh\n",
    "etc/group": "root:x:0:\nparity:x:1000:\n",
    "opt/paritygate/venv/pyvenv.cfg": "home = /usr/local/bin\ninclude-system-site-packages = false\n",
    "opt/paritygate/sentinel": cell_images.SENTINEL,
}


def make(engine: Engine, tag: str, tree: Mapping[str, str]) -> ImageRecord:
    """Have the image on an engine, with a tree in its workspace."""
    return engine.import_image([packed(tree)], tag, {KIND_LABEL: TEMPORARY})


def packed(tree: Mapping[str, str]) -> bytes:
    """Pack its root file system."""
    files = {name: text.encode() for name, text in TEXTS.items()}
    files |= {f"parity/workspace/{name}": text.encode() for name, text in tree.items()}
    for name, content in cell_images.contents():
        files[name.replace("paritygate/packages", f"paritygate/venv/lib/{STDLIB.name}/site-packages")] = content
    result = io.BytesIO()
    with tarfile.open(fileobj=result, mode="w") as tar:
        for name in ("tmp", "var/tmp", "parity", "parity/home", "parity/workspace"):
            folder = tarfile.TarInfo(name)
            ours = name.startswith("parity")
            folder.type, folder.mode, folder.uid, folder.gid = tarfile.DIRTYPE, 0o755 if ours else 0o1777, *(ours * 1000,) * 2
            tar.addfile(folder)
        for name, target in LINKS.items():
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            tar.addfile(link)
        for source, name in system():
            tar.add(source.resolve(), name, recursive=False)
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o644
            member.uid = member.gid = 1000 * name.startswith("parity/")
            tar.addfile(member, io.BytesIO(content))
    return result.getvalue()


def system() -> Iterator[tuple[Path, str]]:
    """Yield the files of this computer with the places at which a cell has them."""
    modules = [path for path in STDLIB.rglob("*") if path.is_file() and not LEFT_OUT.intersection(path.relative_to(STDLIB).parts)]
    programs = [Path(sys.executable).resolve(), Path("/bin/sh").resolve()]
    yield programs[0], INTERPRETER.lstrip("/")
    yield programs[1], "usr/bin/sh"
    for path in modules:
        if not path.relative_to(STDLIB).parts[0].startswith("config-"):
            yield path, f"usr/local/lib/{STDLIB.name}/{path.relative_to(STDLIB)}"
    natives = [str(path) for path in (*programs, *modules) if path in programs or path.suffix == ".so"]
    said = subprocess.run(["ldd", *natives], check=False, capture_output=True, text=True).stdout
    for library in sorted(set(re.findall(r"(/\S+\.so\S*) \(0x", said))):
        place = library.removeprefix("/usr").lstrip("/")
        yield Path(library), f"usr/{place}" if place.startswith("lib") else f"usr/lib/{Path(library).name}"
    for place in SYSTEM:
        for path in sorted(Path(place).rglob("*")) if Path(place).is_dir() else (Path(place),):
            if path.is_file():
                yield path, str(path).lstrip("/")

"""The base image: the one named, the official one where a registry answers, else one made of this computer's packages."""

from __future__ import annotations

import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from paritygate.config.settings import ImageSettings
from paritygate.config.values import OLDEST, is_supported
from paritygate.docker_engine.requests import KIND_LABEL, ImageRecord, Log
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import BaseImageError, ConfigError
from paritygate.images.distributions import Distribution, this_distribution
from paritygate.images.names import SOURCE_LABEL, Kind, digest

PACKAGES = (
    "ca-certificates",
    "tzdata",
    "locales",
    "git",
    "python3",
    "python3-venv",
    "python3-pip",
    "python3-dev",
    "gcc",
    "libc6-dev",
)
BOOTSTRAP = "mmdebstrap"
_MINORS = range(OLDEST, 16)
_ARCHITECTURES = {
    "x86_64": "amd64",
    "aarch64": "arm64",
    "arm64": "arm64",
    "armv7l": "arm",
    "ppc64le": "ppc64le",
    "s390x": "s390x",
}
_PIECE = 1 << 20


def find_or_make(engine: Engine, settings: ImageSettings, python: str, log: Log) -> ImageRecord:
    """Find the image to start from.

    | first that holds | image |
    |---|---|
    | `base` is set | that one, pulled where it is absent |
    | `python:X.Y-slim` is there | that one |
    | one was made here before | that one: no registry answered then, and asking at each run would cost seconds |
    | `python:X.Y-slim` can be pulled | that one |
    | this is Debian or Ubuntu with mmdebstrap | one made of its packages |

    Whether its interpreter suits the project is for the installer to check, since nobody else can ask it.
    """
    found = look_up(engine, settings, python)
    if found is not None:
        return found
    if settings.base:
        found = engine.pull(settings.base, log)
        if found is None:
            raise BaseImageError(
                f"the base image `{settings.base}` is not there and cannot be pulled",
                "correct `base` under `[tool.paritygate.image]`, or load the image into the engine",
            )
        return found
    return engine.pull(official(python), log) or _make(engine, this_distribution(), official(python), log)


def look_up(engine: Engine, settings: ImageSettings, python: str) -> ImageRecord | None:
    """Find the image to start from among those that the engine has."""
    if settings.base:
        return engine.image(settings.base)
    distribution = this_distribution()
    return engine.image(official(python)) or (engine.image(name_of(distribution)) if distribution else None)


def official(python: str) -> str:
    """Name the official image of a Python version `X.Y`."""
    return f"python:{python}-slim"


def choose_python(settings: ImageSettings, project: Path, requires_python: str, running: str) -> str:
    """Choose `X.Y`: as set, as `.python-version` says, else the admitted one nearest to the running interpreter, newer first.

    Raises `ConfigError` where `.python-version` names one that is too old.
    """
    asked = _major_and_minor(settings.python) or pinned_python(project)
    if asked and not is_supported(asked):
        problem = f"it names Python {asked}, and CPython 3.{OLDEST} is the oldest that tests can be run on"
        raise ConfigError(".python-version", (f"{problem}; `python` under `[tool.paritygate.image]` goes over it",))
    if asked:
        return asked
    minor = int(running.split(".")[1])
    admitted = [each for each in _MINORS if _admits(requires_python, each)]
    return f"3.{min(admitted, key=lambda each: (abs(each - minor), -each))}" if admitted else running


def pinned_python(project: Path) -> str:
    """Say which `X.Y` the project's `.python-version` names; empty for none."""
    path = project / ".python-version"
    return _major_and_minor(path.read_text(encoding="utf-8", errors="replace")) if path.is_file() else ""


def _major_and_minor(written: str) -> str:
    parts = written.strip().split("\n")[0].strip().removeprefix("python").lstrip("-").split(".")
    return ".".join(parts[:2]) if len(parts) > 1 and all(part.isdecimal() for part in parts[:2]) else ""


def name_of(distribution: Distribution) -> str:
    """Name the base that is made of a distribution's packages; a change of its sources or of our list gives another."""
    recipe = digest(*distribution.sources, *PACKAGES)
    return f"paritygate/{Kind.BASE}:{distribution.name}-{distribution.suite}-{recipe}"


def _admits(requires_python: str, minor: int) -> bool:
    try:
        specifiers = SpecifierSet(requires_python)
    except InvalidSpecifier:
        return True
    return specifiers.contains(f"3.{minor}.0") or specifiers.contains(f"3.{minor}.99")


def _make(engine: Engine, distribution: Distribution | None, wanted: str, log: Log) -> ImageRecord:
    problem = _obstacle(engine, distribution)
    if distribution is None or problem:
        raise BaseImageError(
            f"there is no image to start from: `{wanted}` is not there, no registry gives it, and "
            f"none can be made here, since {problem}"
        )
    log(f"no registry gives `{wanted}`; making a base of {distribution.name} {distribution.suite}'s packages")
    with tempfile.TemporaryFile() as said:
        command = [BOOTSTRAP, "--variant=minbase", f"--include={','.join(PACKAGES)}", "--format=tar", distribution.suite, "-"]
        process = subprocess.Popen(  # noqa: S603 - the command is fixed, the sources are this computer's own
            [*command, *distribution.sources], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said
        )
        try:
            labels = {KIND_LABEL: Kind.BASE, SOURCE_LABEL: f"{distribution.name} {distribution.suite}"}
            return engine.import_image(_pieces(process, said.fileno()), name_of(distribution), labels)
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait()
            if process.stdout:
                process.stdout.close()


def _pieces(process: subprocess.Popen[bytes], said: int) -> Iterator[bytes]:
    """Yield the file system as it is made; a failure must break the import off, or half a system would become an image."""
    while process.stdout and (piece := process.stdout.read(_PIECE)):
        yield piece
    if process.wait():
        with Path(f"/proc/self/fd/{said}").open(encoding="utf-8", errors="replace") as lines:
            tail = "".join(f"\n  | {line.rstrip()}" for line in lines.readlines()[-12:])
        raise BaseImageError(f"`{BOOTSTRAP}` could not make a base image (exit code {process.returncode}):{tail}")


def _obstacle(engine: Engine, distribution: Distribution | None) -> str:
    """Say what keeps a base from being made here; empty where nothing does."""
    if distribution is None:
        return "this is not Debian or Ubuntu with readable package sources"
    if shutil.which(BOOTSTRAP) is None:
        return f"`{BOOTSTRAP}` is not installed"
    here = _ARCHITECTURES.get(platform.machine(), platform.machine())
    if engine.info.platform.rpartition("/")[2] != here:
        return f"the engine runs {engine.info.platform} and this computer is {here}"
    return ""

"""Runs the installer (`images/install.py`) in a container, as the tests' user, and says how it went."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from paritygate.docker_engine.requests import ContainerRequest
from paritygate.docker_engine.verbs import Container, Engine
from paritygate.errors import BuildError
from paritygate.images import resources, tarballs
from paritygate.images.access import Access
from paritygate.images.recipes import Step
from paritygate.images.transcripts import Transcript

USER = 1000
SECONDS = 3600.0
WORKSPACE = "/workspace"
HOME = "/opt/paritygate"
_PYTHON = f"{HOME}/venv/bin/python"
_STAGE = "/tmp/paritygate"  # noqa: S108 - a path inside a container of our own
SAY_HOW = "say how to install with `install = [...]` under `[tool.paritygate.image]`"
CORRECT_IT = "correct `install` under `[tool.paritygate.image]`"
_HINTS = (
    (
        r"(?i)command '?\S*(gcc|cc|g\+\+|clang)\S*'? failed: no such file|unable to find .*compiler|no acceptable c compiler",
        '["gcc", "libc6-dev"]',
    ),
    (r"Python\.h: No such file", '["python3-dev"]'),
    (r"pg_config executable not found|libpq-fe\.h", '["libpq-dev", "gcc"]'),
    (r"mysql_config|mariadb_config", '["default-libmysqlclient-dev", "pkg-config", "gcc"]'),
    (r"ffi\.h: No such file", '["libffi-dev", "gcc"]'),
    (r"libxml/xmlversion\.h|libxml2 and libxslt", '["libxml2-dev", "libxslt1-dev", "gcc"]'),
    (r"(?i)can't find rust compiler|cargo.*(not found|is not installed)", '["cargo", "rustc"]'),
    (r"\bcmake\b.*(not found|must be installed)", '["cmake", "g++", "make"]'),
    (r"fatal error: (\S+\.h): No such file", "the package that holds that header"),
)
_NETWORK = re.compile(
    r"(?i)temporary failure in name resolution|network is unreachable|connection refused|max retries exceeded|newconnectionerror"
)
_CERTIFICATE = re.compile(r"CERTIFICATE_VERIFY_FAILED|certificate verify failed")


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What the installer reads as JSON; see `images/install.py`."""

    python: str = ""
    requires_python: str = ""
    steps: tuple[Step, ...] = ()
    build_requires: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    distributions: tuple[str, ...] = ()
    version: str = ""
    online: bool = False


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the installer: `what` is `dependencies` or `project`, `files` lie among the manifests."""

    what: str
    image: str
    plan: Plan
    files: dict[str, bytes] = {}
    access: Access = Access()
    network: bool = False


@contextmanager
def container(engine: Engine, job: Job) -> Iterator[Container]:
    """Create the container of a job, not started and without its files."""
    variables = {
        "PATH": f"{HOME}/venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "VIRTUAL_ENV": f"{HOME}/venv",
        "HOME": "/home/parity",
        "LC_ALL": "C.UTF-8",
        "PIP_NO_CACHE_DIR": "1",
        "PIP_NO_INPUT": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_COLOR": "1",
        "PIP_PROGRESS_BAR": "off",
        "POETRY_VIRTUALENVS_CREATE": "false",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    request = ContainerRequest(
        image=job.image,
        command=(_PYTHON, "-I", f"{_STAGE}/install.py", job.what),
        kind="install" if job.what == "dependencies" else "snapshot",
        name=f"install-{job.what}",
        user=f"{USER}:{USER}",
        environment={**variables, **job.access.variables},
        network=job.network,
        processes=4096,
        seconds=SECONDS * 2,
    )
    with engine.container(request) as created:
        yield created


def stage(created: Container, job: Job) -> None:
    """Put the installer, its plan and the files of a job into a container."""
    files = {f"manifests/{name}": content for name, content in job.files.items()}
    files |= {"install.py": resources.recipe("install.py"), "plan.json": msgspec.json.encode(job.plan)}
    if job.access.certificates:
        files["certificates.pem"] = job.access.certificates
    created.put("/tmp", tarballs.pack({f"paritygate/{name}": content for name, content in files.items()}, USER))  # noqa: S108


def follow(created: Container, job: Job, transcript: Transcript) -> int:
    """Run a job in its container, write down what it says, and give its exit code; past the limit it is killed."""
    stage(created, job)
    streams = created.attach()
    timer = threading.Timer(SECONDS, created.kill)
    timer.daemon = True
    created.start()
    timer.start()
    try:
        transcript.read(streams.frames())
        end = created.wait(60.0)
    finally:
        timer.cancel()
        streams.close()
    if end is None:
        created.kill()
        return -1
    if end.out_of_memory:
        transcript.write("paritygate: the engine ended it for want of memory")
    return end.exit_code


def failure(title: str, transcript: Transcript, path: Path, otherwise: str = SAY_HOW) -> BuildError:
    """Make the error of an installation that failed: its last lines, where the rest is, and what may help."""
    return BuildError(title, transcript.tail, str(path), hint_for(transcript.tail, otherwise))


def hint_for(said: str, otherwise: str = SAY_HOW) -> str:
    """Say what may help, from what an installation said last; `otherwise` where that says nothing."""
    if _CERTIFICATE.search(said):
        return "name your organisation's certificates with `extra-ca-certs` under `[tool.paritygate.image]`, or in `PIP_CERT`"
    for pattern, packages in _HINTS:
        if re.search(pattern, said):
            return f"set `system-packages` under `[tool.paritygate.image]`: {packages}"
    if _NETWORK.search(said):
        return "set `PIP_INDEX_URL`, `HTTPS_PROXY` or their like: they are passed on for the time of the installation"
    return otherwise

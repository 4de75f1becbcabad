"""Runs the installer (`images/install.py`) in a container, as the tests' user, and says how it went."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

import msgspec

from paritygate.docker_engine.requests import ContainerRequest
from paritygate.docker_engine.verbs import Container, Engine
from paritygate.errors import BuildError
from paritygate.images import advice, resources, tarballs
from paritygate.images.access import Access
from paritygate.images.recipes import Step
from paritygate.images.transcripts import Transcript

USER = 1000
SECONDS = 3600.0
FOLDER = "/parity"
"""What a cell may write: the workspace, and the home of the tests' user."""
WORKSPACE = f"{FOLDER}/workspace"
HOME = "/opt/paritygate"
_PYTHON = f"{HOME}/venv/bin/python"
_STAGE = "/tmp/paritygate"  # noqa: S108 - a path inside a container of our own


class Way(StrEnum):
    """How the installer puts the project into its environment.

    | way | what happens |
    |---|---|
    | `offline` | built in isolation, with the wheels that lie ready |
    | `online` | built in isolation, with what an index gives |
    | `unisolated` | built where everything installed can be imported, beside what builds require |
    | `in-place` | not installed: its root, and `src` in it, can be imported from |
    | `command` | by the command of the configuration, with a network |
    | `not-at-all` | nothing: no installer is started |
    """

    OFFLINE = "offline"
    ONLINE = "online"
    UNISOLATED = "unisolated"
    IN_PLACE = "in-place"
    COMMAND = "command"
    NOT_AT_ALL = "not-at-all"

    @property
    def network(self) -> bool:
        """Whether it may reach a network."""
        return self in {Way.ONLINE, Way.UNISOLATED, Way.COMMAND}


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What the installer reads as JSON; see `images/install.py`."""

    python: str = ""
    requires_python: str = ""
    steps: tuple[Step, ...] = ()
    build_requires: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    distributions: tuple[str, ...] = ()
    directory: str = ""
    name: str = ""
    version: str = ""
    way: Way = Way.OFFLINE
    command: str = ""


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
        "HOME": f"{FOLDER}/home",
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


def failure(title: str, transcript: Transcript, otherwise: str = advice.SAY_HOW) -> BuildError:
    """Make the error of an installation that failed: its last lines, where the rest is, and what may help."""
    said = advice.own_words(transcript.tail)
    what = f"{title}: {said.reason}" if said.reason else title
    hint = said.hint or advice.hint_for(transcript.tail, otherwise)
    return BuildError(what, transcript.tail, str(transcript.path), hint)

"""The gate as a user has it: the real command line in a process of its own, signals and all, and what it leaves behind.

A gate is started in a process group of its own, as a shell does it, so that Ctrl-C reaches all of it and nobody else.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Self

import msgspec
from docker import APIClient
from docker.errors import APIError

from paritygate.docker_engine.owners import Owner
from paritygate.docker_engine.requests import BUILD_LABEL, KIND_LABEL, OWNER_LABEL, TEMPORARY
from paritygate.outcomes.artifact import Artifact, Finding
from tests.support.samples import clean_environment, git

PATIENCE_SECONDS = 120.0
LOOK_SECONDS = 0.05
QUICK = ("--env", "local-like", "--attempts", "1")
"""Options for one cell: enough wherever it is not several that matter."""


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """How a gate ended: its exit status, both its streams, the process id it had, and the artifact where it wrote one."""

    status: int
    stdout: str
    stderr: str
    pid: int
    artifact: Artifact | None

    def finding(self, nodeid: str) -> Finding:
        """Give what the artifact says of a test."""
        assert self.artifact is not None, self.stderr
        return next(finding for finding in self.artifact.tests if finding.nodeid == nodeid)

    @property
    def errors(self) -> list[str]:
        """List the lines of stderr that are no progress."""
        lines = self.stderr.splitlines()
        first = next((index for index, line in enumerate(lines) if line.startswith("paritygate: ")), len(lines))
        return lines[first:]


def lay_out(project: Path, files: Mapping[str, str]) -> Path:
    """Make a git repository that holds these files."""
    for name, content in files.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    git(project, "init", "--quiet", "--initial-branch=main")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message=All that is known")
    return project


class Gate:
    """A gate that is running; leaving the context ends it by force if it has not ended by itself."""

    def __init__(self, project: Path, *options: str, variables: Mapping[str, str] | None = None) -> None:
        self._report = project / "parity_report.json"
        self._report.unlink(missing_ok=True)
        logs = project.parent / f"{project.name}.streams"
        logs.mkdir(exist_ok=True)
        number = len(list(logs.iterdir()))
        self._stdout = logs / f"{number}.stdout"
        self._stderr = logs / f"{number}.stderr"
        with self._stdout.open("wb") as stdout, self._stderr.open("wb") as stderr:
            self._process = start(("run", "--project", str(project), *options), variables, stdout, stderr)
        self.pid = self._process.pid

    def __enter__(self) -> Self:
        """Give itself."""
        return self

    def __exit__(self, *_error: object) -> None:
        """End what has not ended."""
        if self._process.poll() is None:
            os.killpg(self.pid, signal.SIGKILL)
            self._process.wait()

    @property
    def stderr(self) -> str:
        """What it has said on stderr so far."""
        return self._stderr.read_text(encoding="utf-8", errors="replace")

    def wait_for(self, what: Callable[[], object]) -> None:
        """Wait until something holds; fails where the gate ends before it does."""
        give_up = time.monotonic() + PATIENCE_SECONDS
        while not what():
            assert self._process.poll() is None, f"it ended with {self._process.returncode}: {self.stderr}"
            assert time.monotonic() < give_up, self.stderr
            time.sleep(LOOK_SECONDS)

    def wait_for_line(self, part: str) -> None:
        """Wait until it has said something on stderr."""
        self.wait_for(lambda: part in self.stderr)

    def press_control_c(self) -> None:
        """Do what a terminal does."""
        os.killpg(self.pid, signal.SIGINT)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the gate alone."""
        self._process.send_signal(number)

    def ended(self) -> Ended:
        """Wait for its end and say how it was."""
        status = self._process.wait(PATIENCE_SECONDS)
        return Ended(
            status=status,
            stdout=self._stdout.read_text(encoding="utf-8", errors="replace"),
            stderr=self.stderr,
            pid=self.pid,
            artifact=msgspec.json.decode(self._report.read_bytes(), type=Artifact) if self._report.is_file() else None,
        )


def start(
    arguments: tuple[str, ...], variables: Mapping[str, str] | None, stdout: IO[bytes] | int, stderr: IO[bytes] | int
) -> subprocess.Popen[bytes]:
    """Start the real command line; `variables` are laid over this process's."""
    command = [sys.executable, "-m", "paritygate", *arguments]
    environment = clean_environment() | dict(variables or {})
    return subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, start_new_session=True
    )


def run(project: Path, *options: str, variables: Mapping[str, str] | None = None) -> Ended:
    """Run a gate to its end."""
    with Gate(project, *options, variables=variables) as gate:
        return gate.ended()


class Leftovers:
    """Looks for what a process has left on an engine; other gates may be running there."""

    def __init__(self, client: APIClient) -> None:
        self._client = client

    def containers(self, pid: int) -> list[str]:
        """Name the containers, running or not, that belong to a process."""
        listed = self._client.containers(all=True, filters={"label": OWNER_LABEL})
        return [each["Names"][0].lstrip("/") for each in listed if _owner(each["Labels"]) == pid]

    def running(self, pid: int) -> list[str]:
        """Name those of them that run."""
        listed = self._client.containers(filters={"label": OWNER_LABEL})
        return [each["Names"][0].lstrip("/") for each in listed if _owner(each["Labels"]) == pid]

    def made_of(self, image: str) -> list[str]:
        """Name the containers of an image and of all that is made of it, whoever they belong to, as those of builds."""
        return [each["Id"] for each in self._client.containers(all=True, filters={"ancestor": image})]

    def unnamed(self, label: str) -> set[str]:
        """Name the images with a label that have no name themselves and of which nothing is made."""
        return {each["Id"] for each in self._client.images(filters={"dangling": True, "label": label})}

    def remove_labelled(self, label: str) -> None:
        """Remove the images with a label, those that the builder keeps to build faster next time among them."""
        left = -1
        while (listed := self._client.images(all=True, filters={"label": label})) and len(listed) != left:
            left = len(listed)
            for image in listed:
                with contextlib.suppress(APIError):  # it went with its child, or goes after it in the next round
                    self._client.remove_image(image["Id"], force=True)

    def _told(self, image: str) -> str:
        """Name an image with the last steps that made it, for whoever has to find out who has left it."""
        steps = [each["CreatedBy"] for each in self._client.history(image) if "LABEL" not in each["CreatedBy"]]
        return f"{image[:19]}: {' < '.join(steps[:3])}"

    def everything(self, pid: int) -> list[str]:
        """Name every container, volume, temporary image and image of an unfinished build that belongs to a process."""
        volumes = self._client.volumes(filters={"label": OWNER_LABEL})["Volumes"] or []
        images = [
            *self._client.images(filters={"label": f"{KIND_LABEL}={TEMPORARY}"}),
            *self._client.images(filters={"dangling": True, "label": BUILD_LABEL}),
        ]
        return [
            *self.containers(pid),
            *(volume["Name"] for volume in volumes if _owner(volume["Labels"]) == pid),
            *(self._told(image["Id"]) for image in images if _owner(image["Labels"]) == pid),
        ]


def _owner(labels: Mapping[str, str]) -> int:
    try:
        return msgspec.json.decode(labels.get(OWNER_LABEL, ""), type=Owner).pid
    except msgspec.DecodeError:
        return 0

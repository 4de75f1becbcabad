"""What `paritygate doctor` says of case, on an engine that lets containers do all that takes, and on lesser ones."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec
import pytest

from paritygate import case_trial, doctor, project_images
from paritygate.docker_engine.container import DockerContainer
from paritygate.docker_engine.engine import DockerEngine
from paritygate.docker_engine.requests import ContainerRequest
from paritygate.images import keeping
from tests.support.gate_runs import Leftovers

pytestmark = pytest.mark.docker

FOLDING = """
[environments.only]
case_sensitive = false
"""


class LesserEngine(DockerEngine):
    """The engine with containers that get less than was asked for."""

    def __init__(self, whole: DockerEngine, lessen: Callable[[ContainerRequest], ContainerRequest]) -> None:
        super().__init__(whole._client, whole.info, whole._run)  # noqa: SLF001 - it is the same engine
        self._lessen = lessen

    def container(self, request: ContainerRequest) -> AbstractContextManager[DockerContainer]:
        return super().container(self._lessen(request))


def without(capability: str) -> Callable[[ContainerRequest], ContainerRequest]:
    return lambda asked: msgspec.structs.replace(
        asked, capabilities=tuple(each for each in asked.capabilities if each != capability)
    )


def without_devices(asked: ContainerRequest) -> ContainerRequest:
    return msgspec.structs.replace(asked, devices=())


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, engine: DockerEngine) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("doctor") / f"sample-{uuid.uuid4().hex[:8]}"
    root.mkdir()
    (root / "paritygate.toml").write_text(FOLDING, encoding="utf-8")
    yield root
    keeping.prune(engine, 0, root.name)


@pytest.fixture(scope="module")
def image(project: Path, engine: DockerEngine) -> str:
    return project_images.make(lambda: engine, project, dict(os.environ), print).of("only").tags[0]


def said_of_case(engine: DockerEngine, project: Path) -> list[str]:
    lines = doctor.examine(project, lambda: engine, dict(os.environ)).text.splitlines()
    first = next(number for number, line in enumerate(lines) if "case_sensitive" in line)
    return [line.strip() for line in lines[first:]]


def test_what_was_built_is_tried_and_leaves_nothing(
    engine: DockerEngine, project: Path, image: str, leftovers: Leftovers
) -> None:
    before = set(leftovers.everything(os.getpid()))
    assert image
    assert said_of_case(engine, project) == [
        "case_sensitive: can vary, by the daemon casefs (Unicode 14.0.0; probe: folds, keeps, fresh, renames case)"
    ]
    assert set(leftovers.everything(os.getpid())) <= before


def test_what_was_not_built_is_not_tried(engine: DockerEngine, tmp_path: Path) -> None:
    (tmp_path / "paritygate.toml").write_text(FOLDING.replace("only", uuid.uuid4().hex), encoding="utf-8")
    assert said_of_case(engine, tmp_path) == ["case_sensitive: not tried yet: `paritygate images build` makes the image"]


def test_what_is_not_wanted_is_not_tried(engine: DockerEngine, tmp_path: Path) -> None:
    (tmp_path / "paritygate.toml").write_text(FOLDING.replace("false", "true"), encoding="utf-8")
    assert said_of_case(engine, tmp_path) == [
        "case_sensitive: not varied: no environment has `case_sensitive = false` or a `directory_order`"
    ]


@pytest.mark.parametrize(
    ("lessen", "said"),
    [
        (without_devices, ("`/dev/fuse` is not there on the engine's computer", "ENOENT device: /dev/fuse", "`modprobe fuse`")),
        (without("SYS_ADMIN"), ("nothing may be mounted in containers of this engine (EPERM)", "EPERM", "SYS_ADMIN")),
        (without("SYS_PTRACE"), ("the daemon may not see who renames a file", "CAP_SYS_PTRACE", "ptrace_scope")),
    ],
    ids=["no device", "no mounting", "no looking at callers"],
)
def test_of_an_engine_that_denies_something_it_is_said_what(
    engine: DockerEngine, image: str, lessen: Callable[[ContainerRequest], ContainerRequest], said: tuple[str, ...]
) -> None:
    shown = case_trial.run(LesserEngine(engine, lessen), image)
    assert not shown.varies
    assert shown.lines[0].startswith("cannot vary: ")
    assert [part for part, line in zip(said, shown.lines, strict=True) if part not in line] == []

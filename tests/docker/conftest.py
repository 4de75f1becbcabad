"""The engine for the tests that need one; where there is none they fail, since a skip would look like a pass."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from paritygate.docker_engine.connect import connect
from paritygate.docker_engine.endpoints import EndpointSearch
from paritygate.docker_engine.engine import DockerEngine
from paritygate.docker_engine.requests import KIND_LABEL

BASES = ("paritygate-dev-base:latest", "python:3.11-slim")


def the_engine() -> DockerEngine:
    return connect(EndpointSearch(environment=dict(os.environ), home=Path.home()))


@pytest.fixture(scope="session")
def engine() -> Iterator[DockerEngine]:
    engine = the_engine()
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def base(engine: DockerEngine) -> str:
    """Find an image with Python and a shell: the one that `nox -s engine` has made, or a usual one."""
    made = [image.tags[0] for image in engine.images() if image.labels[KIND_LABEL] == "base" and image.tags]
    for reference in (*made, *BASES):
        if engine.image(reference) or engine.pull(reference, print):
            return reference
    pytest.fail("there is no base image: run `nox -s engine`")


@pytest.fixture
def tag(engine: DockerEngine) -> Iterator[str]:
    name = f"paritygate-test:{uuid.uuid4().hex[:12]}"
    yield name
    engine.remove_image(name)

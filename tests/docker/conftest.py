"""The engine for the tests that need one; where there is none they fail, since a skip would look like a pass."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from docker import APIClient

from paritygate.config.settings import ImageSettings
from paritygate.docker_engine.connect import connect
from paritygate.docker_engine.endpoints import EndpointSearch
from paritygate.docker_engine.engine import DockerEngine
from paritygate.images.base import find_or_make
from tests.support import cell_images
from tests.support.gate_runs import Leftovers


def the_engine() -> DockerEngine:
    return connect(EndpointSearch(environment=dict(os.environ), home=Path.home()))


@pytest.fixture(scope="session")
def engine() -> Iterator[DockerEngine]:
    engine = the_engine()
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def base(engine: DockerEngine) -> str:
    """Take the image with Python and a shell that a gate without settings would start from."""
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    return find_or_make(engine, ImageSettings(), running, print).tags[0]


@pytest.fixture(scope="session")
def leftovers(engine: DockerEngine) -> Iterator[Leftovers]:
    client = APIClient(base_url=engine.info.endpoint.url, version="auto")
    yield Leftovers(client)
    client.close()


@pytest.fixture
def tag(engine: DockerEngine) -> Iterator[str]:
    name = f"paritygate-test:{uuid.uuid4().hex[:12]}"
    yield name
    engine.remove_image(name)


@pytest.fixture(scope="session")
def plain_image(engine: DockerEngine, base: str) -> Iterator[str]:
    """Make an image with the guest's files and pytest, once for each session."""
    tag = f"paritygate-test-plain:{uuid.uuid4().hex[:12]}"
    cell_images.make(engine, base, tag)
    yield tag
    engine.remove_image(tag)

"""Images without a name: whose they are, and which of them go."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator

import msgspec
import pytest

from paritygate.docker_engine import unnamed
from paritygate.docker_engine.client import Client, open_client
from paritygate.docker_engine.endpoints import Candidate
from paritygate.docker_engine.engine import DockerEngine
from paritygate.docker_engine.owners import this_run
from paritygate.docker_engine.requests import (
    BUILD_LABEL,
    DEADLINE_LABEL,
    KIND_LABEL,
    OWNER_LABEL,
    RUN_LABEL,
    BuildRequest,
    ContainerRequest,
)
from paritygate.errors import BuildError
from paritygate.images import keeping
from tests.support.engine_contract import ignore
from tests.support.gate_runs import Leftovers

pytestmark = pytest.mark.docker


@pytest.fixture(scope="module")
def client(engine: DockerEngine) -> Iterator[Client]:
    client, _ = open_client(Candidate(endpoint=engine.info.endpoint))
    yield client
    client.close()


def an_unnamed(client: Client, engine: DockerEngine, base: str, tag: str, labels: dict[str, str]) -> str:
    """Make an image and take its name away."""
    recipe = f"FROM {base}\nENV BUILT={uuid.uuid4().hex}".encode()
    made = engine.build(BuildRequest(tag=tag, files={"Dockerfile": recipe}, labels=labels), ignore)
    recipe += b"\nENV AGAIN=yes"
    engine.build(BuildRequest(tag=tag, files={"Dockerfile": recipe}, labels={}), ignore)
    engine.remove_image(tag)  # a second one of that name would leave this one without a name in its turn
    assert exists_image(client, made.identity)
    return made.identity


def exists_image(client: Client, identity: str) -> bool:
    return any(image["Id"] == identity for image in client.images(all=True))


def test_a_build_that_fails_or_is_refused_leaves_no_image(
    engine: DockerEngine, base: str, leftovers: Leftovers, tag: str
) -> None:
    before = set(leftovers.everything(os.getpid()))
    recipe = f"FROM {base}\nENV BUILT={tag}\nENV MORE=yes\nRUN echo why >&2; echo paritygate: so; false".encode()
    with pytest.raises(BuildError) as caught:
        engine.build(BuildRequest(tag=tag, files={"Dockerfile": recipe}, labels={}), ignore)
    assert {"why", "paritygate: so"} <= set(caught.value.tail.splitlines())
    with pytest.raises(BuildError):
        engine.build(BuildRequest(tag=tag, files={"Dockerfile": recipe + b"\nNONSENSE"}, labels={}), ignore)
    assert set(leftovers.everything(os.getpid())) <= before


def test_an_image_that_was_built_carries_nothing_of_the_way_to_it(engine: DockerEngine, base: str, tag: str) -> None:
    recipe = f"FROM {base} AS first\nFROM first\nENV BUILT={tag}".encode()
    made = engine.build(BuildRequest(tag=tag, files={"Dockerfile": recipe}, labels={KIND_LABEL: "contract"}), ignore)
    assert not {BUILD_LABEL, RUN_LABEL, OWNER_LABEL, DEADLINE_LABEL} & made.labels.keys()
    assert made.labels[KIND_LABEL] == "contract"


def test_a_stage_that_was_only_copied_from_does_not_stay(engine: DockerEngine, base: str, leftovers: Leftovers, tag: str) -> None:
    before = set(leftovers.everything(os.getpid()))
    recipe = f"FROM {base} AS first\nRUN echo {tag} >/made\nFROM scratch\nCOPY --from=first /made /made".encode()
    made = engine.build(BuildRequest(tag=tag, files={"Dockerfile": recipe}, labels={KIND_LABEL: "contract"}), ignore)
    assert engine.image(tag) == made
    assert set(leftovers.everything(os.getpid())) <= before


def test_an_image_that_lost_its_name_goes_once_it_is_old_enough_and_nothing_uses_it(
    engine: DockerEngine, base: str, client: Client, tag: str
) -> None:
    owner, now = this_run().owner, time.time()
    identity = an_unnamed(client, engine, base, tag, {KIND_LABEL: "contract"})
    unnamed.sweep(client, owner, now)
    assert exists_image(client, identity)
    used = ContainerRequest(image=identity, command=("true",), kind="cell", name="uses")
    with engine.container(used):
        unnamed.sweep(client, owner, now + 120)
        assert exists_image(client, identity)
    unnamed.sweep(client, owner, now + 120)
    assert not exists_image(client, identity)


def test_of_two_equal_images_the_one_that_has_the_name_stays(engine: DockerEngine, base: str, client: Client, tag: str) -> None:
    recipes = [f"FROM {base}\nENV BUILT={uuid.uuid4().hex}".encode() for _ in range(2)]
    ours, theirs = (
        engine.build(BuildRequest(tag=tag, files={"Dockerfile": recipe}, labels={KIND_LABEL: "contract"}), ignore)
        for recipe in recipes
    )
    with engine.container(ContainerRequest(image=ours.identity, command=("true",), kind="cell", name="uses")):
        keeping.drop_nameless(engine, (ours,))
        assert exists_image(client, ours.identity)
    keeping.drop_nameless(engine, (ours, theirs))
    assert not exists_image(client, ours.identity)
    assert engine.image(tag) == theirs


def test_what_nobody_of_ours_has_made_keeps_its_place_without_a_name(
    engine: DockerEngine, base: str, client: Client, tag: str
) -> None:
    identity = an_unnamed(client, engine, base, tag, {KIND_LABEL: ""})
    unnamed.sweep(client, this_run().owner, time.time() + 120)
    assert exists_image(client, identity)
    client.remove_image(identity)


def test_the_way_to_an_image_is_swept_when_its_owner_is_dead_and_not_before(
    engine: DockerEngine, base: str, client: Client, tag: str
) -> None:
    alive, now = this_run(), time.time()
    gone = msgspec.structs.replace(alive, owner=msgspec.structs.replace(alive.owner, started="long ago"))
    left = {
        run: an_unnamed(client, engine, base, tag, {BUILD_LABEL: "b", **run.labels("build", now + 3600)}) for run in (alive, gone)
    }
    unnamed.sweep(client, alive.owner, now + 120)
    assert exists_image(client, left[alive])
    assert not exists_image(client, left[gone])
    client.remove_image(left[alive])

"""The case-folding filesystem's daemon in images: where it comes from, which images hold it, and how building it fails."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from paritygate.config.settings import EnvironmentSettings
from paritygate.docker_engine.engine import DockerEngine
from paritygate.docker_engine.requests import KIND_LABEL, BuildRequest, ContainerRequest
from paritygate.errors import BuildError
from paritygate.images import keeping, preparing
from paritygate.images.compiled import CASEFS
from paritygate.images.layers import PrepareRequest
from paritygate.images.names import PROJECT_LABEL, Kind
from paritygate.images.preparing import ImageSet
from tests.docker.test_images import a_request, output
from tests.support.engine_contract import ignore
from tests.support.gate_runs import Leftovers

pytestmark = pytest.mark.docker


class Folding(msgspec.Struct, frozen=True):
    """A project's images with the daemon and without."""

    request: PrepareRequest
    images: ImageSet
    plain: ImageSet


@pytest.fixture(scope="module")
def folding(engine: DockerEngine, base: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folding]:
    root = tmp_path_factory.mktemp("folding") / f"sample-{uuid.uuid4().hex[:8]}"
    root.mkdir()
    request = msgspec.structs.replace(a_request(root, base), case_folding=True)
    images = preparing.prepare(engine, request, print)
    plain = preparing.prepare(engine, msgspec.structs.replace(request, case_folding=False), print)
    yield Folding(request, images, plain)
    keeping.prune(engine, 0, root.name)


def names(images: ImageSet) -> set[str]:
    return {each.tags[0] for each in images.environments.values()}


def test_the_images_of_environments_hold_a_daemon_that_needs_no_library(engine: DockerEngine, folding: Folding) -> None:
    for image in folding.images.environments.values():
        assert output(engine, image.tags[0], "/opt/paritygate/casefs", "--version") == "casefs 1, Unicode 14.0.0\n"
        look = "stat -c '%u:%g %a' /opt/paritygate/casefs; LC_ALL=C ldd /opt/paritygate/casefs 2>&1"
        assert output(engine, image.tags[0], "sh", "-c", look) == "0:0 755\n\tnot a dynamic executable\n"


def test_the_daemon_has_an_image_of_its_own_that_holds_nothing_else(engine: DockerEngine, folding: Folding) -> None:
    image = engine.image(folding.images.compiled[Kind.CASEFS])
    assert image is not None
    assert image.size < 4 << 20
    with engine.container(
        ContainerRequest(
            image=folding.images.compiled[Kind.CASEFS], command=("/opt/paritygate/casefs", "--help"), kind="cell", name="look"
        )
    ) as started:
        started.start()
        end = started.wait(60)
        assert end is not None
        assert end.exit_code == 0
        assert b"".join(data for _, data in started.logs()).startswith(b"usage: casefs")


def test_the_daemons_image_is_shared_by_projects_and_is_listed(engine: DockerEngine, folding: Folding) -> None:
    (image,) = [each for each in keeping.list_kept(engine) if folding.images.compiled[Kind.CASEFS] in each.tags]
    assert image.labels[KIND_LABEL] == "casefs"
    assert PROJECT_LABEL not in image.labels


def test_without_case_folding_no_image_holds_the_daemon_and_all_else_is_shared(engine: DockerEngine, folding: Folding) -> None:
    assert folding.plain.compiled == {}
    assert folding.plain.dependencies == folding.images.dependencies
    assert not names(folding.plain) & names(folding.images)
    for name in names(folding.plain):
        assert output(engine, name, "find", "/opt/paritygate", "-name", "casefs*") == ""


def test_what_holds_the_daemon_is_found_and_nothing_is_started(engine: DockerEngine, folding: Folding) -> None:
    said: list[str] = []
    found = preparing.prepare(engine, folding.request, said.append)
    assert (names(found), found.compiled) == (names(folding.images), folding.images.compiled)  # others may make the same ones
    assert said == []


def test_building_the_daemon_leaves_nothing_but_its_image(
    engine: DockerEngine, base: str, tag: str, tmp_path: Path, leftovers: Leftovers
) -> None:
    before = set(leftovers.everything(os.getpid()))
    own = engine.build(BuildRequest(tag=tag, files={"Dockerfile": f"FROM {base}\nENV OWN={tag}".encode()}, labels={}), ignore)
    # The system layer comes next and cannot be made, so that of what is made on this base only the daemon is left.
    environments = {"here": EnvironmentSettings(locale="de_DF.UTF-8")}
    request = msgspec.structs.replace(a_request(tmp_path, tag), case_folding=True, environments=environments)
    with pytest.raises(BuildError, match="the locale `de_DF"):
        preparing.prepare(engine, request, print)
    try:
        assert engine.image(CASEFS.name_of(own)) is not None
        assert set(leftovers.everything(os.getpid())) <= before
    finally:
        engine.remove_image(CASEFS.name_of(own))


BROKEN = {
    "RUN rm /usr/bin/apt-get": "the base image has no apt-get and lacks: ",
    "RUN rm -rf /etc/apt/sources.list* /var/lib/apt/lists": "the image's distribution does not give: ",
    r"RUN printf '#!/bin/sh\nexit 1' >/usr/bin/make; chmod 755 /usr/bin/make": "it takes a C library and a libfuse as new",
}


@pytest.mark.parametrize("breaking", BROKEN)
def test_a_base_on_which_the_daemon_cannot_be_built_is_named_with_what_to_do(
    engine: DockerEngine, base: str, tag: str, tmp_path: Path, breaking: str
) -> None:
    engine.build(BuildRequest(tag=tag, files={"Dockerfile": f"FROM {base}\n{breaking}".encode()}, labels={}), ignore)
    request = msgspec.structs.replace(a_request(tmp_path, tag), case_folding=True)
    with pytest.raises(BuildError) as caught:
        preparing.prepare(engine, request, print)
    said = caught.value.message.splitlines()[0]
    assert said.startswith("the case-folding filesystem cannot be built")
    assert BROKEN[breaking] in said
    assert '`case_sensitive = "any"`' in caught.value.hint
    assert "`--without-axis case_sensitive`" in caught.value.hint

"""The snapshot layer: one working tree in an environment's image, with the project installed, made once for each tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from paritygate.docker_engine.requests import KIND_LABEL, Commit, ImageRecord, Log
from paritygate.docker_engine.verbs import Engine
from paritygate.images import installing, resources, tarballs
from paritygate.images.access import Access
from paritygate.images.installing import Job, Plan
from paritygate.images.names import PROJECT_LABEL, SOURCE_LABEL, TREE_LABEL, Kind, digest, tag
from paritygate.images.preparing import ImageSet
from paritygate.images.transcripts import Transcript
from paritygate.outcomes.trees import Tree

SENTINEL = "sentinel"
UNKNOWN_VERSION = "0.0.0"

_WANTS_NETWORK = 75


class BakeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which tree goes into which environment's image.

    `pack` gives a tar whose entries lie below `workspace/`, owned by user and group 1000; it may be called more than once.
    An image that was made before `fresh` (ISO 8601, in UTC) is made anew, lest it be removed as an old one while it is used.
    """

    images: ImageSet
    environment: str
    tree: Tree
    pack: Callable[[], Iterable[bytes]]
    access: Access
    logs: Path
    fresh: str = ""


def bake(engine: Engine, request: BakeRequest, log: Log) -> ImageRecord:
    """Find or make the image that holds a tree; the project is installed without a network, or with one where that fails."""
    name = name_of(request)
    found = engine.image(name)
    if found is not None and found.created >= request.fresh:
        return found
    log(f"putting the {request.tree.state} tree into the image of `{request.environment}`")
    made = _make(engine, request, name, online=False)
    if made is None:
        log("the project does not install without a network; once more with one")
        made = _make(engine, request, name, online=True)
    if made is None:
        raise AssertionError(name)
    return made


def name_of(request: BakeRequest) -> str:
    """Name the image by everything that goes into it."""
    images, tree = request.images, request.tree
    content = digest(
        images.of(request.environment).identity,
        tree.digest,
        _version(tree),
        resources.recipe("install.py"),
        *images.recipe.members,
        *images.recipe.distributions,
    )
    return tag(Kind.TREE, images.project, content)


def _make(engine: Engine, request: BakeRequest, name: str, *, online: bool) -> ImageRecord | None:
    """Make the image; None where installing failed for want of a network."""
    images, tree = request.images, request.tree
    recipe = images.recipe
    plan = Plan(members=recipe.members, distributions=recipe.distributions, version=_version(tree), online=online)
    access = request.access if online else Access()
    job = Job(what="project", image=images.of(request.environment).tags[0], plan=plan, access=access, network=online)
    path = request.logs / f"tree-{name.rpartition(':')[2]}.log"
    with installing.container(engine, job) as created, Transcript(path, request.access.secrets) as transcript:
        created.put("/", request.pack())
        created.put(installing.HOME, tarballs.pack({SENTINEL: tree.digest.encode()}, 0))
        if recipe.members:
            code = installing.follow(created, job, transcript)
            if code == _WANTS_NETWORK and not online:
                return None
            if code:
                raise installing.failure("the project could not be installed in its tree", transcript, path)
        labels = {
            KIND_LABEL: str(Kind.TREE),
            PROJECT_LABEL: images.project,
            TREE_LABEL: tree.digest,
            SOURCE_LABEL: f"{request.environment} {tree.state}",
        }
        return created.commit(Commit(tag=name, labels=labels, environment={}, workdir=installing.WORKSPACE))


def _version(tree: Tree) -> str:
    """Say the version that build tools are told; none where they can ask git themselves."""
    return tree.version or ("" if tree.has_git else UNKNOWN_VERSION)

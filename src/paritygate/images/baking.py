"""The snapshot layer: one working tree in an environment's image, with the project installed, made once for each tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from paritygate.docker_engine.requests import KIND_LABEL, Commit, ImageRecord, Log
from paritygate.docker_engine.verbs import Engine
from paritygate.images import advice, installing, resources, tarballs
from paritygate.images.access import Access
from paritygate.images.installing import Job, Plan, Way
from paritygate.images.names import PROJECT_LABEL, SOURCE_LABEL, TREE_LABEL, Kind, digest, tag
from paritygate.images.preparing import ImageSet
from paritygate.images.recipes import Recipe
from paritygate.images.transcripts import Transcript
from paritygate.outcomes.trees import Tree

SENTINEL = "sentinel"
UNKNOWN_VERSION = "0.0.0"

NOTE_LABEL = "paritygate.note"
WAY_LABEL = "paritygate.way"
DEPENDENCIES_LABEL = "paritygate.dependencies"
IN_PLACE = "the project could not be installed and runs from its root"
CORRECT_IT = "correct `install-project` under `[tool.paritygate.image]`"
SAY_HOW = "say how to install it with `install-project` under `[tool.paritygate.image]`, or with `false` not to"
_WAYS = (Way.OFFLINE, Way.ONLINE, Way.UNISOLATED, Way.IN_PLACE)
_BEFORE = {
    Way.ONLINE: "the project does not install without a network: now with one",
    Way.UNISOLATED: "the project does not build in isolation: now where it can import what is installed",
    Way.IN_PLACE: f"warning: {IN_PLACE}; why is in `{{log}}`",
}


class BakeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which tree goes into which environment's image.

    `pack` gives a tar whose entries lie below `parity/workspace/`, owned by user and group 1000; it may be called more than once.
    With `way` the project is installed in that one, which has worked on another engine, and in no other.
    An image that was made before `fresh` (ISO 8601, in UTC) is made anew, lest it be removed as an old one while it is used.
    """

    images: ImageSet
    environment: str
    tree: Tree
    pack: Callable[[], Iterable[bytes]]
    access: Access
    logs: Path
    fresh: str = ""
    way: Way | None = None


def bake(engine: Engine, request: BakeRequest, log: Log) -> ImageRecord:
    """Find or make the image that holds a tree, with the project installed in the first way that works.

    Each way begins with a fresh tree, and what has failed for the last one is not tried again. A project that cannot be installed
    runs from its root, which the image's label says; but not where a network was lacking, for the image would stay as it is
    when the network is back.
    """
    name = name_of(request)
    if found := _fresh(engine, request, name):
        return found
    log(f"putting the {request.tree.state} tree into the image of `{request.environment}`")
    recipe = request.images.recipe
    said = ""
    with Transcript(request.logs / f"tree-{name.rpartition(':')[2]}.log", request.access.secrets) as transcript:
        for way in (request.way,) if request.way is not None else ways(recipe, _last_way(engine, request)):
            if way is Way.IN_PLACE and advice.lacks_network(said):
                break
            if way in _BEFORE:
                log(_BEFORE[way].format(log=transcript.path))
            made = _make(engine, request, way, transcript)
            if made is not None:
                return made
            said += transcript.tail if way.network else ""
        otherwise = SAY_HOW if recipe.project is True else CORRECT_IT
        raise installing.failure("the project could not be installed in its tree", transcript, otherwise)


def note_of(image: ImageRecord) -> str:
    """Say what is remarkable about the image of a tree; empty for nothing."""
    return image.labels.get(NOTE_LABEL, "")


def ways(recipe: Recipe, last: str = "") -> tuple[Way, ...]:
    """List the ways in which a project is installed, best first, from the `last` on that worked with the same dependencies.

    Where none has, all are tried: the next tree may have mended what was wrong.
    """
    if isinstance(recipe.project, str):
        return (Way.COMMAND,)
    if not recipe.project or not recipe.members:
        return (Way.NOT_AT_ALL,)
    worked = [way for way in _WAYS if way == last and way is not Way.IN_PLACE]
    return _WAYS[_WAYS.index(worked[0]) :] if worked else _WAYS


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
        str(images.recipe.project),
    )
    return tag(Kind.TREE, images.project, content)


def _fresh(engine: Engine, request: BakeRequest, name: str) -> ImageRecord | None:
    found = engine.image(name)
    if found is None or found.created < request.fresh:
        return None
    return found if request.way is None or found.labels.get(WAY_LABEL) == request.way else None


def _last_way(engine: Engine, request: BakeRequest) -> str:
    """Say in which way the last tree of the project was installed with these dependencies; empty where there is none."""
    images = request.images
    alike = engine.images(f"{DEPENDENCIES_LABEL}={images.dependencies}")
    found = [image for image in alike if image.labels.get(PROJECT_LABEL) == images.project]
    return max(found, key=lambda image: image.created).labels.get(WAY_LABEL, "") if found else ""


def _make(engine: Engine, request: BakeRequest, way: Way, transcript: Transcript) -> ImageRecord | None:
    """Make the image with the project installed in one way; None where that failed."""
    images, tree = request.images, request.tree
    job = _job(request, way)
    with installing.container(engine, job) as created:
        created.put("/", request.pack())
        created.put(installing.HOME, tarballs.pack({SENTINEL: tree.digest.encode()}, 0))
        transcript.write(f"== {way}")
        if way is not Way.NOT_AT_ALL and installing.follow(created, job, transcript):
            return None
        name = name_of(request)
        # Another gate may have made the same one meanwhile: a second would take its name away.
        if found := _fresh(engine, request, name):
            return found
        labels = {
            KIND_LABEL: str(Kind.TREE),
            PROJECT_LABEL: images.project,
            TREE_LABEL: tree.digest,
            SOURCE_LABEL: f"{request.environment} {tree.state}",
            DEPENDENCIES_LABEL: images.dependencies,
            WAY_LABEL: str(way),
            NOTE_LABEL: IN_PLACE if way is Way.IN_PLACE else "",
        }
        return created.commit(Commit(tag=name, labels=labels, environment={}, workdir=installing.WORKSPACE))


def _job(request: BakeRequest, way: Way) -> Job:
    images, tree = request.images, request.tree
    recipe = images.recipe
    plan = Plan(
        way=way,
        members=recipe.members,
        distributions=recipe.distributions,
        build_requires=recipe.build_requires,
        directory=tree.directory,
        name=recipe.distributions[-1] if recipe.distributions else "",
        version=_version(tree),
        command=recipe.project if isinstance(recipe.project, str) else "",
    )
    return Job(
        what="project",
        image=images.of(request.environment).tags[0],
        plan=plan,
        access=request.access if way.network else Access(),
        network=way.network,
    )


def _version(tree: Tree) -> str:
    """Say the version that build tools are told; none where they can ask git themselves."""
    return tree.version or ("" if tree.has_git else UNKNOWN_VERSION)

"""How the project is put into the image of its tree: in which ways, in which order, and where none works."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from paritygate.docker_engine.requests import KIND_LABEL, ImageRecord
from paritygate.errors import BuildError
from paritygate.images import baking
from paritygate.images.access import Access
from paritygate.images.baking import IN_PLACE, BakeRequest, note_of
from paritygate.images.installing import Way
from paritygate.images.preparing import ImageSet
from paritygate.images.recipes import Recipe
from paritygate.outcomes.trees import Tree
from paritygate.outcomes.words import Worktree
from tests.support.fake_engine import FakeEngine, Process

ENVIRONMENT = "paritygate/here-env:1"
NETWORK = Access(variables={"PIP_INDEX_URL": "https://index.example/simple"})


class Installer:
    """Stands for the installer in a container: each way fails with what it is told to say, and the others work."""

    def __init__(self, **failing: str) -> None:
        self._failing = {way.replace("_", "-"): said for way, said in failing.items()}
        self.plans: list[dict[str, object]] = []
        self.meanwhile: Callable[[], object] = list

    def __call__(self, process: Process) -> int:
        plan: dict[str, object] = msgspec.json.decode(process.files["/tmp/paritygate/plan.json"])  # noqa: S108 - in a container
        self.plans.append(plan)
        self.meanwhile()
        way = str(plan["way"])
        if way in self._failing:
            process.out(self._failing[way].encode() + b"\n")
        return int(way in self._failing)

    @property
    def ways(self) -> list[object]:
        return [plan["way"] for plan in self.plans]


def an_engine(installer: Installer) -> FakeEngine:
    engine = FakeEngine({"/opt/paritygate/venv/bin/python": installer})
    engine.keep(ENVIRONMENT, {KIND_LABEL: "env"}, {}, {})
    return engine


def a_request(engine: FakeEngine, logs: Path, *, project: bool | str = True, members: tuple[str, ...] = (".",)) -> BakeRequest:
    image = engine.image(ENVIRONMENT)
    assert image is not None
    recipe = Recipe(
        source="a test",
        files={},
        steps=(),
        build_requires=("setuptools",),
        members=members,
        distributions=("a-thing",) * len(members),
        project=project,
    )
    images = ImageSet(project="a-thing", base=image, dependencies="d", environments={"here": image}, recipe=recipe)
    tree = Tree(state=Worktree.DIRTY, root="/r", directory="", commit="", digest="digest", entries=(), version="1.2")
    return BakeRequest(images=images, environment="here", tree=tree, pack=lambda: [b"\0" * 1024], access=NETWORK, logs=logs)


def baked(installer: Installer, logs: Path, *, project: bool | str = True) -> tuple[ImageRecord, list[str], FakeEngine]:
    engine, said = an_engine(installer), list[str]()
    return baking.bake(engine, a_request(engine, logs, project=project), said.append), said, engine


def test_a_project_that_installs_is_installed_once_and_without_a_network(tmp_path: Path) -> None:
    installer = Installer()
    image, said, engine = baked(installer, tmp_path)
    assert installer.ways == ["offline"]
    assert [request.network for request in engine.requests] == [False]
    assert note_of(image) == ""
    assert said == ["putting the dirty tree into the image of `here`"]


def test_one_that_needs_what_is_installed_is_built_where_it_can_import_that(tmp_path: Path) -> None:
    installer = Installer(offline="No module named 'numpy'", online="No module named 'numpy'")
    image, said, engine = baked(installer, tmp_path)
    assert installer.ways == ["offline", "online", "unisolated"]
    assert [request.network for request in engine.requests] == [False, True, True]
    assert ["PIP_INDEX_URL" in request.environment for request in engine.requests] == [False, True, True]
    assert installer.plans[-1]["build_requires"] == ["setuptools"]
    assert note_of(image) == ""
    assert said[1:] == [
        "the project does not install without a network: now with one",
        "the project does not build in isolation: now where it can import what is installed",
    ]


def test_one_that_cannot_be_installed_at_all_runs_from_its_root_and_its_image_says_so(tmp_path: Path) -> None:
    installer = Installer(offline="broken", online="broken", unisolated="broken")
    image, said, engine = baked(installer, tmp_path)
    assert installer.ways == ["offline", "online", "unisolated", "in-place"]
    assert note_of(image) == IN_PLACE == "the project could not be installed and runs from its root"
    (log,) = tmp_path.glob("tree-*.log")
    assert said[-1] == f"warning: the project could not be installed and runs from its root; why is in `{log}`"
    assert log.read_text(encoding="utf-8") == "== offline\nbroken\n== online\nbroken\n== unisolated\nbroken\n== in-place\n"
    again = a_request(engine, tmp_path)
    assert note_of(baking.bake(engine, again, said.append)) == IN_PLACE
    assert len(installer.plans) == 4


def test_the_next_tree_begins_with_the_way_that_worked(tmp_path: Path) -> None:
    installer = Installer(offline="no", online="no")
    engine = an_engine(installer)
    first, said = a_request(engine, tmp_path), list[str]()
    baking.bake(engine, first, said.append)
    later = msgspec.structs.replace(first, tree=msgspec.structs.replace(first.tree, digest="another"))
    baking.bake(engine, later, said.append)
    assert installer.ways == ["offline", "online", "unisolated", "unisolated"]
    others = msgspec.structs.replace(later, images=msgspec.structs.replace(later.images, dependencies="others"), fresh="9")
    baking.bake(engine, others, said.append)
    assert installer.ways[4:] == ["offline", "online", "unisolated"]


@pytest.mark.parametrize("last", ["", "in-place", "nonsense"])
def test_every_way_is_tried_again_where_none_has_worked(tmp_path: Path, last: str) -> None:
    recipe = a_request(an_engine(Installer()), tmp_path).images.recipe
    assert [str(way) for way in baking.ways(recipe, last)] == ["offline", "online", "unisolated", "in-place"]


@pytest.mark.parametrize("way", ["online", "unisolated"])
def test_a_network_that_is_lacking_makes_no_image_that_would_outlast_it(tmp_path: Path, way: str) -> None:
    said = {"offline": "none", "online": "none", "unisolated": "none", way: "Temporary failure in name resolution"}
    installer = Installer(**said)
    engine = an_engine(installer)
    with pytest.raises(BuildError, match="the project could not be installed in its tree") as caught:
        baking.bake(engine, a_request(engine, tmp_path), list[str]().append)
    assert "restart the engine" in caught.value.hint
    assert list(engine.held) == [ENVIRONMENT]


@pytest.mark.parametrize(("project", "members"), [(False, (".",)), (True, ())])
def test_nothing_is_run_for_a_project_that_is_not_to_be_installed(
    tmp_path: Path, *, project: bool, members: tuple[str, ...]
) -> None:
    installer = Installer()
    engine = an_engine(installer)
    image = baking.bake(engine, a_request(engine, tmp_path, project=project, members=members), list[str]().append)
    assert installer.plans == []
    assert note_of(image) == ""


def test_a_command_of_the_configuration_takes_the_place_of_all_other_ways(tmp_path: Path) -> None:
    installer = Installer()
    _, _, engine = baked(installer, tmp_path, project="make install")
    assert [(plan["way"], plan["command"], plan["version"]) for plan in installer.plans] == [("command", "make install", "1.2")]
    assert [request.network for request in engine.requests] == [True]


def test_a_command_that_fails_is_an_error_that_names_its_key(tmp_path: Path) -> None:
    engine = an_engine(Installer(command="no rule to make target"))
    with pytest.raises(BuildError) as caught:
        baking.bake(engine, a_request(engine, tmp_path, project="make install"), list[str]().append)
    assert caught.value.hint == "correct `install-project` under `[tool.paritygate.image]`"


def test_what_another_gate_has_made_meanwhile_keeps_its_name(tmp_path: Path) -> None:
    installer = Installer()
    engine = an_engine(installer)
    request = a_request(engine, tmp_path)
    installer.meanwhile = lambda: engine.keep(baking.name_of(request), {KIND_LABEL: "tree"}, {"theirs": b""}, {})
    image = baking.bake(engine, request, list[str]().append)
    assert engine.held[baking.name_of(request)].files == {"theirs": b""}
    assert image == engine.image(baking.name_of(request))
    assert len(engine.held) == 2


def test_on_another_engine_a_project_is_installed_as_on_the_first_and_in_no_other_way(tmp_path: Path) -> None:
    installer = Installer(offline="no")
    engine = an_engine(installer)
    first = msgspec.structs.replace(a_request(engine, tmp_path), way=Way.IN_PLACE)
    assert note_of(baking.bake(engine, first, list[str]().append)) == IN_PLACE
    with pytest.raises(BuildError, match="the project could not be installed in its tree"):
        baking.bake(engine, msgspec.structs.replace(first, way=Way.OFFLINE), list[str]().append)
    assert installer.ways == ["in-place", "offline"]

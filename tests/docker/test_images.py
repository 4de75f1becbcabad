"""Images made on an engine: what is in them, what is not, and how making them fails."""

from __future__ import annotations

import io
import os
import re
import tarfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import docker
import msgspec
import pytest

from paritygate.config.settings import EnvironmentSettings, ImageSettings
from paritygate.docker_engine.engine import DockerEngine
from paritygate.docker_engine.requests import KIND_LABEL, ContainerRequest, ImageRecord
from paritygate.errors import BaseImageError, BuildError
from paritygate.images import access, baking, keeping, preparing
from paritygate.images.layers import PrepareRequest
from paritygate.images.names import PROJECT_LABEL
from paritygate.images.preparing import ImageSet
from paritygate.outcomes.trees import Tree
from paritygate.outcomes.words import Worktree
from tests.support.gate_runs import Leftovers

pytestmark = pytest.mark.docker

SECRET = "token-5f1e0c"  # noqa: S105 - what must not be found again
ENVIRONMENTS = {
    "here": EnvironmentSettings(timezone="Europe/Berlin", locale="de_DE.UTF-8", workers=0),
    "there": EnvironmentSettings(timezone="UTC", locale="C.UTF-8", workers="auto"),
}


@pytest.fixture
def project(tmp_path: Path, engine: DockerEngine) -> Iterator[Path]:
    """Make a folder for a project under a name of its own, and remove its images in the end."""
    root = tmp_path / f"sample-{uuid.uuid4().hex[:8]}"
    root.mkdir()
    yield root
    keeping.prune(engine, 0, root.name)


def a_request(root: Path, base: str, **settings: object) -> PrepareRequest:
    certificates = access.from_host(dict(os.environ), "", root)
    variables = {**certificates.variables, "PIP_RETRIES": "0", "PIP_EXTRA_INDEX_URL": f"http://user:{SECRET}@127.0.0.1:9/simple"}
    return PrepareRequest(
        root=root,
        directory="",
        settings=ImageSettings(base=base, **settings),  # type: ignore[arg-type]
        environments=ENVIRONMENTS,
        access=msgspec.structs.replace(certificates, variables=variables),
        logs=root / ".paritygate" / "logs",
        running="3.11",
    )


def a_tree(root: Path, digest: str, version: str = "") -> Tree:
    return Tree(state=Worktree.DIRTY, root=str(root), directory="", commit="", digest=digest, entries=(), version=version)


def owned_without_logs(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    member.uid = member.gid = 1000
    return None if ".paritygate" in member.name else member


def baked(engine: DockerEngine, request: PrepareRequest, images: ImageSet, tree: Tree, said: list[str]) -> ImageRecord:
    def pack() -> list[bytes]:
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as tar:
            tar.add(request.root, "parity/workspace", filter=owned_without_logs)
        return [packed.getvalue()]

    wanted = baking.BakeRequest(images=images, environment="here", tree=tree, pack=pack, access=request.access, logs=request.logs)
    return baking.bake(engine, wanted, said.append)


def output(engine: DockerEngine, image: str, *command: str, user: str = "1000:1000") -> str:
    request = ContainerRequest(
        image=image,
        command=command,
        kind="cell",
        name="look",
        user=user,
        workdir="/parity/workspace",
        capabilities=("DAC_OVERRIDE",),
    )
    with engine.container(request) as container:
        container.start()
        container.wait(60)
        return b"".join(data for _, data in container.logs()).decode()


def installable(root: Path, extra: str = "") -> None:
    (root / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["setuptools>=64", "setuptools-scm"]\n[project]\nname = "a-thing"\ndynamic = ["version"]\n'
        f"[tool.setuptools_scm]\n{extra}",
        encoding="utf-8",
    )
    (root / "a_thing").mkdir()
    (root / "a_thing" / "__init__.py").write_text("", encoding="utf-8")


class Made(msgspec.Struct, frozen=True):
    """A project's images with its tree in one of them."""

    request: PrepareRequest
    images: ImageSet
    tree: Tree
    snapshot: ImageRecord

    def name(self, environment: str) -> str:
        return self.images.of(environment).tags[0]


@pytest.fixture(scope="module")
def made(engine: DockerEngine, base: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    own = uuid.uuid4()
    root = tmp_path_factory.mktemp("made") / f"sample-{own.hex[:8]}"
    root.mkdir()
    # A layer belongs to who made it first. For what a killed run has left not to serve, a version that never was is refused.
    installable(root, f'[dependency-groups]\ntest = ["pytest<9,!=0.0.{own.time_low}"]\n')
    request = a_request(root, base)
    images = preparing.prepare(engine, request, print)
    tree = a_tree(root, "digest-1", "4.5.6")
    yield Made(request, images, tree, baked(engine, request, images, tree, []))
    keeping.prune(engine, 0, root.name)


def test_an_image_carries_the_values_of_its_environment(engine: DockerEngine, made: Made) -> None:
    look = "date -d 2024-07-01T00:00Z +%H%z; locale -a | grep de_DE; echo $LC_ALL"
    assert output(engine, made.name("here"), "sh", "-c", look) == "02+0200\nde_DE.utf8\nde_DE.UTF-8\n"
    assert output(engine, made.name("there"), "date", "-d", "2024-07-01T00:00Z", "+%H%Z") == "00UTC\n"
    assert 'workers = "auto"' in output(engine, made.name("there"), "cat", "/opt/paritygate/environment.toml")


def test_a_snapshot_holds_the_tree_its_sentinel_and_the_project_for_a_user_with_a_name(engine: DockerEngine, made: Made) -> None:
    snapshot = made.snapshot.tags[0]
    look = "id -un; echo ~; touch ok; ls -A /tmp ~; cat /opt/paritygate/sentinel"
    assert output(engine, snapshot, "sh", "-c", look) == "parity\n/parity/home\n/parity/home:\n\n/tmp:\ndigest-1"
    assert output(engine, snapshot, "find", "/parity/workspace", "-not", "-user", "1000") == ""
    command = "import a_thing; from importlib.metadata import version as v; print(v('a-thing'))"
    assert output(engine, snapshot, "python", "-c", command) == "4.5.6\n"


def test_tools_are_added_beside_what_the_project_pins(engine: DockerEngine, made: Made) -> None:
    command = "import pytest, xdist, pytest_randomly; print(pytest.__version__.split('.')[0])"
    assert output(engine, made.images.dependencies, "python", "-c", command) == "8\n"


def test_nothing_of_how_packages_were_reached_is_in_any_layer_or_history(engine: DockerEngine, made: Made) -> None:
    client = docker.from_env()
    try:
        for name in (made.images.dependencies, made.name("here"), made.snapshot.tags[0]):
            inspected = str(client.api.inspect_image(name)) + str(client.api.history(name))
            assert SECRET not in inspected
            assert "PIP_" not in inspected
            assert "127.0.0.1:9" not in inspected
    finally:
        client.close()
    search = f"grep -rlsE '{SECRET}|127.0.0.1:9/simple' / --exclude-dir=proc --exclude-dir=sys; find /tmp /opt/paritygate/*.pem"
    assert output(engine, made.snapshot.tags[0], "env", "LC_ALL=C", "sh", "-c", search, user="0:0") == (
        "/tmp\nfind: '/opt/paritygate/*.pem': No such file or directory\n"  # noqa: S108 - inside a container
    )
    assert all(SECRET not in path.read_text(encoding="utf-8") for path in made.request.logs.iterdir())


def test_what_is_there_is_found_and_nothing_is_started(engine: DockerEngine, made: Made) -> None:
    said: list[str] = []
    assert preparing.prepare(engine, made.request, said.append).environments == made.images.environments
    assert baked(engine, made.request, made.images, made.tree, said) == made.snapshot
    assert said == []


def test_pruning_keeps_the_newest_of_each_and_removes_the_rest(engine: DockerEngine, made: Made) -> None:
    project = made.request.root.name
    again = baked(engine, made.request, made.images, a_tree(made.request.root, "digest-2", "4.5.6"), [])
    kept = [found for found in keeping.list_kept(engine) if found.labels.get(PROJECT_LABEL) == project]
    assert {found.labels[KIND_LABEL] for found in kept} == {"deps", "env", "tree"}
    keeping.prune(engine, 2, project)
    assert engine.image(again.tags[0]) == again
    assert engine.image(made.snapshot.tags[0]) == made.snapshot
    engine.remove_image(again.tags[0])


def test_a_setup_that_reads_what_was_not_sent_is_asked_again_with_the_whole_tree(
    engine: DockerEngine, base: str, project: Path
) -> None:
    (project / "deep" / "er").mkdir(parents=True)
    (project / "deep" / "er" / "needs.txt").write_text("idna==3.4\n", encoding="utf-8")
    (project / "setup.py").write_text(
        "from setuptools import setup\nsetup(name='a-thing', version='1', packages=[], py_modules=['thing'],"
        " install_requires=open('deep/er/needs.txt').read().split())\n",
        encoding="utf-8",
    )
    (project / "thing.py").write_text("", encoding="utf-8")
    said: list[str] = []
    images = preparing.prepare(engine, a_request(project, base), said.append)
    assert any("with the whole tree" in line for line in said)
    assert output(engine, images.dependencies, "python", "-c", "import idna; print(idna.__version__)") == "3.4\n"


def an_uninstallable(root: Path, module: str) -> None:
    """Lay out a project whose metadata can only be had by importing it."""
    (root / "setup.py").write_text("from setuptools import setup\nsetup()\n", encoding="utf-8")
    (root / "setup.cfg").write_text(
        "[metadata]\nname = a-thing\nversion = attr: a_thing.version\n[options]\npackages = find:\npackage_dir =\n  = src\n"
        "install_requires =\n  idna==3.4\n[options.packages.find]\nwhere = src\n",
        encoding="utf-8",
    )
    (root / "src" / "a_thing").mkdir(parents=True)
    (root / "src" / "a_thing" / "__init__.py").write_text(f"import {module}\nversion = '.'.join(('4', '5'))\n", encoding="utf-8")


def test_a_project_whose_metadata_imports_a_dependency_is_installed(engine: DockerEngine, base: str, project: Path) -> None:
    an_uninstallable(project, "idna")
    request = a_request(project, base)
    images = preparing.prepare(engine, request, print)
    said: list[str] = []
    frozen = output(engine, images.dependencies, "pip", "freeze", "--all")
    snapshot = baked(engine, request, images, a_tree(project, "digest"), said)
    assert said[-1] == "the project does not build in isolation: now where it can import what is installed"
    assert baking.note_of(snapshot) == ""
    command = "import a_thing; from importlib.metadata import version; print(version('a-thing'), a_thing.__file__)"
    assert output(engine, snapshot.tags[0], "python", "-c", command) == "4.5 /parity/workspace/src/a_thing/__init__.py\n"
    after = output(engine, snapshot.tags[0], "pip", "freeze", "--all", "--exclude-editable")
    assert [line for line in after.splitlines() if "a_thing" not in line and "a-thing" not in line] == frozen.splitlines()


def test_a_project_that_cannot_be_installed_runs_from_its_root_and_says_so(
    engine: DockerEngine, base: str, project: Path
) -> None:
    an_uninstallable(project, "idna")
    (project / "setup.py").write_text("from setuptools import setup\nsetup()\nraise SystemExit('no')\n", encoding="utf-8")
    request = a_request(project, base, install=("pip install idna==3.4",))
    images = preparing.prepare(engine, request, print)
    snapshot = baked(engine, request, images, a_tree(project, "digest"), [])
    assert baking.note_of(snapshot) == "the project could not be installed and runs from its root"
    command = "import a_thing; print(a_thing.__file__)"
    look = ("env", "-C", "/", "python", "-c", command)
    assert output(engine, snapshot.tags[0], *look) == "/parity/workspace/src/a_thing/__init__.py\n"
    assert output(engine, snapshot.tags[0], "find", "/parity/workspace", "-name", "*.egg-info", "-o", "-name", "build") == ""


def test_a_command_may_install_the_project(engine: DockerEngine, base: str, project: Path) -> None:
    installable(project)
    request = a_request(project, base, install_project='echo "$SETUPTOOLS_SCM_PRETEND_VERSION" > installed; pwd >> installed')
    images = preparing.prepare(engine, request, print)
    snapshot = baked(engine, request, images, a_tree(project, "digest", "4.5.6"), [])
    assert output(engine, snapshot.tags[0], "cat", "/parity/workspace/installed") == "4.5.6\n/parity/workspace\n"


def test_a_locale_that_cannot_be_made_is_named_with_its_key_and_nothing_is_left(
    engine: DockerEngine, base: str, project: Path, leftovers: Leftovers
) -> None:
    before = set(leftovers.everything(os.getpid()))
    environments = {**ENVIRONMENTS, "here": EnvironmentSettings(locale="de_DF.UTF-8")}
    request = msgspec.structs.replace(a_request(project, base), environments=environments)
    with pytest.raises(BuildError) as caught:
        preparing.prepare(engine, request, print)
    assert caught.value.message.splitlines()[0] == "the locale `de_DF.UTF-8` cannot be made in this image"
    assert caught.value.hint.startswith("correct `environments.here.locale`: did you mean `de_")
    assert "`de_DE.UTF-8`" in caught.value.hint
    assert set(leftovers.everything(os.getpid())) <= before


def test_a_version_that_the_project_pins_for_its_developers_and_the_base_lacks_is_noted(
    engine: DockerEngine, base: str, project: Path
) -> None:
    (project / ".python-version").write_text("3.99\n", encoding="utf-8")
    said: list[str] = []
    images = preparing.prepare(engine, a_request(project, base), said.append)
    (note,) = images.notes
    assert re.fullmatch(
        r"`\.python-version` names Python 3\.99, and the base image `.*` has 3\.\d+\.\d+: to have the former, name an image that "
        r"has it with `base` under `\[tool\.paritygate\.image\]`",
        note,
    )
    assert said[-1] == note


def test_an_interpreter_that_does_not_suit_is_named(engine: DockerEngine, base: str, project: Path) -> None:
    (project / "pyproject.toml").write_text('[project]\nname = "a-thing"\nrequires-python = ">=3.99"\n', encoding="utf-8")
    with pytest.raises(BaseImageError, match=r"the project wants Python `>=3\.99`, and the base image `.*` has 3\.\d+"):
        preparing.prepare(engine, a_request(project, base), print)


def test_an_installation_that_fails_shows_its_end_and_keeps_the_whole(engine: DockerEngine, base: str, project: Path) -> None:
    request = a_request(
        project, base, install=(f"echo before; echo http://user:{SECRET}@x; echo CERTIFICATE_VERIFY_FAILED; exit 7",)
    )
    with pytest.raises(BuildError) as caught:
        preparing.prepare(engine, request, print)
    assert "the dependencies could not be installed from `install` of the configuration" in caught.value.message
    assert "before\n" in caught.value.tail
    assert "extra-ca-certs" in caught.value.hint
    assert "before" in Path(caught.value.log).read_text(encoding="utf-8")
    assert SECRET not in Path(caught.value.log).read_text(encoding="utf-8")


def test_a_base_that_cannot_be_had_is_an_error_with_its_name(engine: DockerEngine, project: Path) -> None:
    with pytest.raises(BaseImageError, match="`no-such-base:1` is not there and cannot be pulled"):
        preparing.prepare(engine, a_request(project, "no-such-base:1"), print)

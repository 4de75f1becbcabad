"""Images made beforehand, from the command line."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from paritygate.cli.commands import program
from paritygate.docker_engine.engine import DockerEngine
from paritygate.errors import BaseImageError
from paritygate.images import keeping, preparing
from paritygate.images.names import Kind
from paritygate.project_images import configured

pytestmark = pytest.mark.docker

PLAIN = """
[environments.only]
locale = "C.UTF-8"
"""
FOLDING = f"{PLAIN}case_sensitive = false\n"


@pytest.fixture
def project(tmp_path: Path, engine: DockerEngine) -> Iterator[Path]:
    root = tmp_path / f"sample-{uuid.uuid4().hex[:8]}"
    root.mkdir()
    yield root
    keeping.prune(engine, 0, root.name)


def planned(project: Path) -> dict[str, tuple[str, bool]]:
    """Ask which images a run would start from, and whether they are there."""
    told = CliRunner().invoke(program, ["run", "--plan", "--json", "--project", str(project)], catch_exceptions=False)
    return {each["what"]: (each["name"], each["there"]) for each in json.loads(told.stdout)["images"]}


def test_the_images_of_a_project_are_made_and_said_and_then_found(engine: DockerEngine, project: Path) -> None:
    (project / "paritygate.toml").write_text(PLAIN, encoding="utf-8")
    request = configured(project, dict(os.environ))
    assert preparing.look_up(engine, request) is None
    before = planned(project)

    first = CliRunner().invoke(program, ["images", "build", "--project", str(project)], catch_exceptions=False)
    found = preparing.look_up(engine, request)
    again = CliRunner().invoke(program, ["images", "build", "--project", str(project)], catch_exceptions=False)

    assert found is not None
    assert first.stdout == again.stdout
    assert first.stdout.splitlines()[1:] == [f"dependencies: {found.dependencies}", f"only: {found.of('only').tags[0]}"]
    assert again.stderr == ""
    name = found.of("only").tags[0]
    assert before["environment only"] == (name, False)
    assert planned(project) == {what: (image, True) for what, (image, _) in before.items()}


def test_the_images_of_one_project_are_listed_and_removed_without_those_of_others(engine: DockerEngine, project: Path) -> None:
    (project / "paritygate.toml").write_text(PLAIN, encoding="utf-8")
    other = project.parent / f"{project.name}-other"
    other.mkdir()
    (other / "paritygate.toml").write_text(PLAIN + 'timezone = "Asia/Tokyo"\n', encoding="utf-8")

    def images(command: str, place: Path) -> Result:
        return CliRunner().invoke(program, ["images", command, "--project", str(place)], catch_exceptions=False)

    for place in (project, other):
        images("build", place)
    made = preparing.look_up(engine, configured(other, dict(os.environ)))
    assert made is not None
    assert made.of("only").tags[0] in images("list", other).stdout
    assert made.of("only").tags[0] not in images("list", project).stdout
    removed = images("prune", other)
    assert f"MB  {made.of('only').tags[0]}\n" in removed.stdout
    assert removed.stdout.count("removed ") == len(removed.stdout.splitlines())
    nothing = images("list", other)
    assert (nothing.stdout, nothing.stderr) == ("", f"0 images of `{other.name}` kept\n")
    assert preparing.look_up(engine, configured(project, dict(os.environ))) is not None


def test_where_an_environment_folds_case_the_filesystem_is_among_them(engine: DockerEngine, project: Path) -> None:
    (project / "paritygate.toml").write_text(FOLDING, encoding="utf-8")
    CliRunner().invoke(program, ["images", "build", "--project", str(project)], catch_exceptions=False)
    found = preparing.look_up(engine, configured(project, dict(os.environ)))
    assert found is not None
    assert found.compiled[Kind.CASEFS].startswith("paritygate/casefs:")
    assert engine.image(found.compiled[Kind.CASEFS]) is not None


def test_images_that_cannot_be_made_end_as_a_run_would(project: Path) -> None:
    (project / "paritygate.toml").write_text("[image]\nbase = 'no-such-base:1'\n", encoding="utf-8")
    with pytest.raises(BaseImageError, match="`no-such-base:1` is not there") as caught:
        program.main(["images", "build", "--project", str(project)], "paritygate", standalone_mode=False)
    assert caught.value.exit_code == 4

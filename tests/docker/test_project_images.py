"""Images made beforehand, from the command line."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from paritygate.cli import program
from paritygate.docker_engine.engine import DockerEngine
from paritygate.errors import BaseImageError
from paritygate.images import keeping, preparing
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


def test_the_images_of_a_project_are_made_and_said_and_then_found(engine: DockerEngine, project: Path) -> None:
    (project / "paritygate.toml").write_text(PLAIN, encoding="utf-8")
    request = configured(project, dict(os.environ))
    assert preparing.look_up(engine, request) is None

    first = CliRunner().invoke(program, ["images", "build", "--project", str(project)], catch_exceptions=False)
    found = preparing.look_up(engine, request)
    again = CliRunner().invoke(program, ["images", "build", "--project", str(project)], catch_exceptions=False)

    assert found is not None
    assert first.stdout == again.stdout
    assert first.stdout.splitlines()[1:] == [f"dependencies: {found.dependencies}", f"only: {found.of('only').tags[0]}"]
    assert again.stderr == ""


def test_where_an_environment_folds_case_the_filesystem_is_among_them(engine: DockerEngine, project: Path) -> None:
    (project / "paritygate.toml").write_text(FOLDING, encoding="utf-8")
    CliRunner().invoke(program, ["images", "build", "--project", str(project)], catch_exceptions=False)
    found = preparing.look_up(engine, configured(project, dict(os.environ)))
    assert found is not None
    assert found.casefs.startswith("paritygate/casefs:")
    assert engine.image(found.casefs) is not None


def test_images_that_cannot_be_made_end_as_a_run_would(project: Path) -> None:
    (project / "paritygate.toml").write_text("[image]\nbase = 'no-such-base:1'\n", encoding="utf-8")
    with pytest.raises(BaseImageError, match="`no-such-base:1` is not there") as caught:
        program.main(["images", "build", "--project", str(project)], "paritygate", standalone_mode=False)
    assert caught.value.exit_code == 4

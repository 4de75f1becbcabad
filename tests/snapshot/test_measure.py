"""Content that cannot be read as it was listed."""

from __future__ import annotations

import os
from pathlib import Path

from paritygate.snapshot.drafts import Draft
from paritygate.snapshot.measure import Finding, measure
from paritygate.snapshot.sources import Objects
from tests.snapshot.conftest import Project


def reason(top: Path, source: str, environ: dict[str, str]) -> str:
    draft = Draft(path="x", kind="file", mode=0o644, source=source)
    with Objects(str(top), environ) as objects:
        fact = measure([draft], objects)[source]
    assert fact.finding is Finding.UNREADABLE
    return fact.reason


def test_a_file_that_vanished_is_unreadable(project: Project) -> None:
    assert reason(project.path, f"{project.path}/gone", project.environ) == "unreadable: No such file or directory"


def test_a_file_that_became_a_pipe_is_not_waited_for(project: Project) -> None:
    os.mkfifo(project.path / "pipe")

    assert reason(project.path, f"{project.path}/pipe", project.environ) == "unreadable: no longer a file"


def test_a_file_that_became_a_link_is_not_followed(project: Project) -> None:
    (project.path / "link").symlink_to("/etc/hostname")

    assert reason(project.path, f"{project.path}/link", project.environ).startswith("unreadable: ")


def test_an_object_that_git_lacks_is_unreadable(project: Project) -> None:
    found = reason(project.path, f"git:{'0' * 39}1", project.environ)

    assert found == "unreadable: the object is not in the repository"


def test_objects_are_read_one_after_another(project: Project) -> None:
    project.write("b.py", "x" * 300_000)
    project.commit()
    oids = [project.git("rev-parse", f"HEAD:{name}") for name in ("b.py", "test_a.py")]
    drafts = [Draft(path=oid, kind="file", mode=0o644, source=f"git:{oid}") for oid in oids]

    with Objects(str(project.path), project.environ) as objects:
        facts = measure(drafts, objects)

    assert [facts[draft.source].size for draft in drafts] == [300_000, 19]

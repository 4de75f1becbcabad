"""Repositories that are not simply a `.git` in the project."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from paritygate.snapshot import survey
from tests.snapshot.conftest import Make, Project, files


def test_the_tree_is_the_whole_repository_and_the_project_a_place_in_it(project: Project) -> None:
    project.write("services/api/test_api.py")
    project.commit()

    dirty, clean = project.trees("services/api")

    assert clean.directory == dirty.directory == "services/api"
    assert clean.root == str(project.path.resolve())
    assert files(clean) == ["services/api/test_api.py", "test_a.py"]
    assert survey.locate(str(project.path / "services/api"), project.environ) == (clean.root, clean.directory)


def test_a_linked_worktree_is_its_own_tree(project: Project, tmp_path: Path) -> None:
    project.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    linked = Project(tmp_path / "linked", tmp_path / "home")
    linked.write("only_here.py")

    dirty, clean = linked.trees()

    assert files(dirty) == ["only_here.py", "test_a.py"]
    assert files(clean) == ["test_a.py"]
    assert clean.root == str((tmp_path / "linked").resolve())
    assert clean.has_git


def test_a_worktree_whose_repository_is_gone_is_read_as_if_without_git(project: Project, tmp_path: Path) -> None:
    project.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    shutil.rmtree(project.path)

    _, clean = Project(tmp_path / "linked", tmp_path / "home").trees()

    assert files(clean) == ["test_a.py"]
    assert clean.notes[0].startswith("`.git` in the project leads nowhere")


def test_a_shallow_clone_is_a_whole_tree(project: Project, tmp_path: Path) -> None:
    project.write("b.py")
    project.commit()
    project.git("clone", "--quiet", "--depth=1", f"file://{project.path}", str(tmp_path / "shallow"))

    dirty, clean = Project(tmp_path / "shallow", tmp_path / "home").trees()

    assert files(clean) == ["b.py", "test_a.py"]
    assert dirty.digest == clean.digest == project.trees()[1].digest


def test_a_sparse_checkout_has_the_other_files_from_git(project: Project) -> None:
    project.write("here/a.py", "x")
    project.write("there/b.py", "y")
    project.commit()
    whole = project.trees()[1].digest
    project.git("sparse-checkout", "set", "here")

    dirty, clean = project.trees()

    assert files(dirty) == ["here/a.py", "test_a.py"]
    assert files(clean) == ["here/a.py", "test_a.py", "there/b.py"]
    assert clean.digest == whole


def test_what_a_partial_clone_lacks_is_left_out_and_nothing_is_fetched(project: Project, tmp_path: Path) -> None:
    project.write("here/a.py", "x")
    project.write("there/b.py", "y")
    project.commit()
    project.git("config", "uploadpack.allowFilter", "true")
    origin, target = f"file://{project.path}", str(tmp_path / "partial")
    project.git("clone", "--quiet", "--filter=blob:none", "--sparse", origin, target)
    partial = Project(tmp_path / "partial", tmp_path / "home")
    partial.git("sparse-checkout", "set", "here")

    dirty, clean = partial.trees()

    assert files(dirty) == files(clean) == ["here/a.py", "test_a.py"]
    assert clean.left_out == {"there/b.py": "its content is not in this clone (partial or sparse)"}
    assert clean.notes == ("tests see no `.git`: HEAD's files are not all in this clone (partial)",)


@pytest.fixture
def with_submodule(project: Project, directory: Make) -> Project:
    library = directory("library")
    library.git("init", "--quiet")
    library.write("lib.py", "x = 1\n")
    library.write(".gitignore", "*.log\n")
    library.commit()
    project.git("submodule", "--quiet", "add", str(library.path), "vendor/library")
    project.commit()
    return project


def test_a_submodule_is_taken_from_its_working_copy(with_submodule: Project) -> None:
    with_submodule.write("vendor/library/lib.py", "x = 22\n")
    with_submodule.write("vendor/library/new.py")
    with_submodule.write("vendor/library/run.log")

    dirty, clean = with_submodule.trees()

    inside = ["vendor/library/.gitignore", "vendor/library/lib.py"]
    assert files(clean) == [".gitmodules", "test_a.py", *inside]
    assert files(dirty) == [".gitmodules", "test_a.py", *inside, "vendor/library/new.py", "vendor/library/run.log"]
    assert dirty.status == {
        "vendor/library/lib.py": "modified",
        "vendor/library/new.py": "untracked",
        "vendor/library/run.log": "ignored",
    }


def test_a_submodule_that_is_not_checked_out_is_an_empty_directory_and_noted(with_submodule: Project) -> None:
    with_submodule.git("submodule", "--quiet", "deinit", "--force", "vendor/library")

    dirty, clean = with_submodule.trees()

    assert [entry.path for entry in clean.entries] == [".gitmodules", "test_a.py", "vendor", "vendor/library"]
    assert dirty.digest == clean.digest
    assert clean.notes == ("submodule `vendor/library` is not checked out; its directory is empty",)


def test_a_submodule_at_another_commit_is_noted(with_submodule: Project) -> None:
    with_submodule.commit(at="vendor/library")

    _, clean = with_submodule.trees()

    assert clean.notes == ("submodule `vendor/library` is at another commit than recorded, and is taken as it lies",)


def test_files_of_an_untracked_repository_inside_are_untracked(project: Project) -> None:
    project.write("nested/deep/a.py")
    project.git("init", "--quiet", at="nested")
    project.commit(at="nested")

    dirty, clean = project.trees()

    assert files(dirty) == ["nested/deep/a.py", "test_a.py"]
    assert dirty.status == {"nested/deep/a.py": "untracked"}
    assert files(clean) == ["test_a.py"]


def test_variables_that_a_hook_hands_on_lead_nowhere_else(project: Project, directory: Make) -> None:
    other = directory("other")
    other.git("init", "--quiet")
    other.write("foreign.py")
    other.commit()
    leaked = {"GIT_DIR": str(other.path / ".git"), "GIT_WORK_TREE": str(other.path), "GIT_INDEX_FILE": "nowhere"}

    _, clean = project.trees(variables=leaked)

    assert files(clean) == ["test_a.py"]


def test_settings_of_the_repository_run_no_program(project: Project, tmp_path: Path) -> None:
    trap = project.write("trap.sh", f"#!/bin/sh\ntouch {tmp_path}/sprung\n", mode=0o755)
    project.git("config", "core.fsmonitor", str(trap))
    project.git("config", "core.pager", str(trap))

    project.trees()

    assert not (tmp_path / "sprung").exists()

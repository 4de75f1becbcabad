"""The version that a project derives from git."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.snapshot.conftest import Make, Project

SCM = '[build-system]\nrequires = ["setuptools>=64", "setuptools-scm>=8"]\n'


def version(project: Project) -> str:
    return project.trees()[1].version


@pytest.fixture
def versioned(project: Project) -> Project:
    project.write("pyproject.toml", SCM)
    project.commit()
    return project


def head(project: Project) -> str:
    return project.git("rev-parse", "--short", "HEAD")


@pytest.mark.parametrize(
    ("tag", "exact", "after"),
    [
        ("1.2.3", "1.2.3", "1.2.4"),
        ("v2.0", "2.0", "2.1"),
        ("package-v1.0.9", "1.0.9", "1.0.10"),
        ("release/3.1.0", "3.1.0", "3.1.1"),
        ("v2.0rc1", "2.0rc1", "2.0rc2"),
        ("1.0.0-beta.2", "1.0.0b2", "1.0.0b3"),
    ],
)
def test_a_tag_is_the_version_and_commits_after_it_lead_to_the_next(versioned: Project, tag: str, exact: str, after: str) -> None:
    versioned.git("tag", tag)
    assert version(versioned) == exact

    versioned.commit()
    assert version(versioned) == f"{after}.dev1+g{head(versioned)}"


def test_a_changed_tree_on_a_tag_is_the_next_version_in_both_states(versioned: Project) -> None:
    versioned.git("tag", "v1.2.3")
    versioned.write("test_a.py", "changed\n")

    dirty, clean = versioned.trees()

    assert dirty.version == clean.version == f"1.2.4.dev0+g{head(versioned)}"


def test_without_a_tag_commits_are_counted(versioned: Project) -> None:
    assert version(versioned) == f"0.1.dev2+g{head(versioned)}"


def test_a_shallow_clone_without_tags_is_version_nought_and_noted(versioned: Project, tmp_path: Path) -> None:
    versioned.git("clone", "--quiet", "--depth=1", f"file://{versioned.path}", str(tmp_path / "shallow"))

    _, clean = Project(tmp_path / "shallow", tmp_path / "home").trees()

    assert clean.version == "0.0.0"
    assert clean.notes == ("no tag in this shallow clone: the version is taken to be 0.0.0",)


def test_a_project_with_a_version_of_its_own_gets_none(project: Project) -> None:
    project.write("pyproject.toml", '[project]\nname = "x"\nversion = "1"\n')
    project.git("tag", "v9")

    assert version(project) == ""


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pyproject.toml", 'requires = ["hatchling", "hatch-vcs"]'),
        ("pyproject.toml", '[tool.hatch.version]\nsource = "vcs"\n'),
        ("pyproject.toml", '[tool.pdm.version]\nsource = "scm"\n'),
        ("pyproject.toml", 'requires = ["poetry-core", "poetry-dynamic-versioning"]'),
        ("setup.py", "setup(use_scm_version=True, setup_requires=['setuptools_scm'])"),
        ("setup.cfg", "[options]\nsetup_requires = setuptools_scm\n"),
        ("setup.py", "import versioneer"),
    ],
)
def test_tools_that_ask_git_are_known(project: Project, name: str, content: str) -> None:
    project.write(name, content)

    assert version(project).startswith("0.1.dev1+g")


def test_a_source_distribution_says_its_version_itself(directory: Make) -> None:
    plain = directory("plain")
    plain.write("pyproject.toml", SCM)
    plain.write("PKG-INFO", "Metadata-Version: 2.1\nName: x\nVersion: 4.5\n")

    assert version(plain) == "4.5"

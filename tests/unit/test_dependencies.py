"""Which dependencies are found in which projects, without running anything of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from paritygate.config.settings import ImageSettings
from paritygate.images.dependencies import find
from paritygate.images.recipes import Recipe, StepKind

GENERATED = ".paritygate/requirements.txt"


def a_project(root: Path, **files: str) -> Path:
    """Write files; `__` in a name stands for a slash, and the last `_` before an ending for its dot."""
    for name, content in files.items():
        path = root / name.replace("__", "/").replace("_DOT_", ".").replace("_DASH_", "-")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return root


def found(root: Path, directory: str = "", **settings: object) -> Recipe:
    return find(root, directory, ImageSettings(**settings))  # type: ignore[arg-type]


def lines(recipe: Recipe, name: str = GENERATED) -> list[str]:
    return recipe.files[name].decode().splitlines()


def test_pep_621_dependencies_come_with_the_extra_for_tests_and_the_extras_it_names(tmp_path: Path) -> None:
    root = a_project(
        tmp_path,
        pyproject_DOT_toml="""
[build-system]
requires = ["hatchling", "hatch-vcs"]
[project]
name = "Some.Thing"
dependencies = ["attrs"]
requires-python = ">=3.9"
[project.optional-dependencies]
cli = ["click"]
docs = ["sphinx"]
test = ["pytest", "some-thing[cli]"]
""",
    )
    recipe = found(root)
    assert lines(recipe) == ["attrs", "pytest", "click"]
    assert recipe.members == (".",)
    assert recipe.distributions == ("Some.Thing",)
    assert recipe.build_requires == ("hatchling", "hatch-vcs", "editables")
    assert recipe.requires_python == ">=3.9"


def test_dependency_groups_are_resolved_and_development_counts_only_where_the_tests_bring_no_pytest(tmp_path: Path) -> None:
    text = """
[project]
name = "thing"
[dependency-groups]
base = ["idna"]
test = [{ include-group = "base" }, "%s"]
dev = ["ruff", "pytest-mock"]
"""
    with_pytest = found(a_project(tmp_path / "a", pyproject_DOT_toml=text % "pytest>=8"))
    without = found(a_project(tmp_path / "b", pyproject_DOT_toml=text % "hypothesis"))
    assert lines(with_pytest) == ["idna", "pytest>=8"]
    assert lines(without) == ["idna", "hypothesis", "ruff", "pytest-mock"]


def test_groups_that_include_each_other_come_to_an_end(tmp_path: Path) -> None:
    text = '[dependency-groups]\ntest = [{include-group = "more"}, "pytest"]\nmore = [{include-group = "test"}, "idna"]\n'
    recipe = found(a_project(tmp_path, pyproject_DOT_toml='[project]\nname = "x"\n' + text))
    assert lines(recipe) == ["idna", "pytest"]


def test_what_a_setup_requires_is_needed_beside_the_build_tool_itself(tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text("from setuptools import setup\nsetup()\n", encoding="utf-8")
    (tmp_path / "setup.cfg").write_text("[metadata]\nname = thing\n[options]\nsetup_requires =\n  Sphinx\n", encoding="utf-8")
    assert found(tmp_path).build_requires[:3] == ("setuptools", "wheel", "Sphinx")


def test_a_project_without_a_build_system_is_not_installed(tmp_path: Path) -> None:
    recipe = found(a_project(tmp_path, pyproject_DOT_toml='[project]\nname = "app"\ndependencies = ["idna"]\n'))
    assert recipe.members == ()
    assert lines(recipe) == ["idna"]


def test_requirements_files_are_sent_with_all_they_refer_to_and_without_what_installs_the_tree(tmp_path: Path) -> None:
    root = a_project(
        tmp_path,
        requirements_DOT_txt="flask\n",
        requirements_DASH_dev_DOT_txt="-r requirements.txt\n-c pins/all.txt\n-e .\n-e ./libs/inner[x]\npytest\n",
        pins__all_DOT_txt="flask==3.0\n",
        libs__inner__pyproject_DOT_toml='[build-system]\nrequires = ["flit_core"]\n[project]\nname = "inner"\n',
    )
    recipe = found(root)
    assert set(recipe.files) == {"requirements.txt", "requirements-dev.txt", "pins/all.txt"}
    assert recipe.files["requirements-dev.txt"] == b"-r requirements.txt\n-c pins/all.txt\npytest\n"
    assert recipe.steps[0].arguments == ("-r", "requirements.txt", "-r", "requirements-dev.txt")
    assert recipe.members == ("libs/inner",)
    assert recipe.build_requires == ("flit_core",)


def test_a_wheel_of_the_tree_is_sent_along_from_where_pip_looks_for_it(tmp_path: Path) -> None:
    asked = "./wheels/own-1-py3-none-any.whl[x]  # ours\nwheels/other-1.tar.gz\nhttps://example.org/far-1.zip\n./gone-1.whl\n"
    root = a_project(tmp_path, inner__requirements__test_DOT_txt=f"pytest\n{asked}")
    (root / "inner/wheels").mkdir()
    (root / "inner/wheels/own-1-py3-none-any.whl").write_bytes(b"\xff1")
    (root / "inner/wheels/other-1.tar.gz").write_bytes(b"2")
    recipe = found(root, "inner")
    assert recipe.files["inner/requirements/test.txt"].decode() == f"pytest\n{asked}"
    assert recipe.files["inner/wheels/own-1-py3-none-any.whl"] == b"\xff1"
    assert recipe.files["inner/wheels/other-1.tar.gz"] == b"2"
    assert recipe.steps[0].directory == "inner"
    assert recipe.notes == ("`inner/gone-1.whl` is referred to and is not in the tree",)
    assert recipe.members == ()


def test_files_for_tests_go_before_files_for_development(tmp_path: Path) -> None:
    root = a_project(
        tmp_path, requirements__base_DOT_txt="a\n", requirements__tests_DOT_txt="pytest\n", requirements__dev_DOT_txt="ruff\n"
    )
    assert set(found(root).files) == {"requirements/base.txt", "requirements/tests.txt"}


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    recipe = found(a_project(tmp_path, requirements_DOT_txt="-r gone.txt\nidna\n"))
    assert recipe.notes == ("`gone.txt` is referred to and is not in the tree",)


def test_setup_cfg_is_read(tmp_path: Path) -> None:
    cfg = """
[metadata]
name = thing
[options]
python_requires = >=3.8
install_requires =
    attrs
    idna; python_version < "3.9"  # old
[options.extras_require]
testing =
    pytest
    pytest-cov
"""
    recipe = found(a_project(tmp_path, setup_DOT_cfg=cfg))
    assert lines(recipe) == ["attrs", 'idna; python_version < "3.9"', "pytest", "pytest-cov"]
    assert recipe.requires_python == ">=3.8"
    assert recipe.build_requires == ("setuptools", "wheel")


def test_setup_py_of_literals_is_read_as_text(tmp_path: Path) -> None:
    script = """
from setuptools import setup
base = ["attrs"]
setup(name="thing", install_requires=base + ["idna"], extras_require={"test": ["pytest"], ":python_version<'3.9'": ["zipp"]})
"""
    recipe = found(a_project(tmp_path, setup_DOT_py=script))
    assert lines(recipe) == ["attrs", "idna", "zipp ; python_version<'3.9'", "pytest"]
    assert recipe.fallback is None


@pytest.mark.parametrize(
    "script",
    [
        "import setuptools\nneeds = ['a']\nneeds.append('b')\nsetuptools.setup(name='x', install_requires=needs)\n",
        "import setuptools\nneeds = ['a']\nif 1:\n    needs = ['b']\nsetuptools.setup(name='x', install_requires=needs)\n",
        "import setuptools\nsetuptools.setup(name='x', install_requires=open('requirements.txt').read().split())\n",
        "import setuptools\nsetuptools.setup(**{'name': 'x'})\n",
    ],
    ids=["changed in place", "assigned twice", "read from a file", "given as a mapping"],
)
def test_setup_py_that_computes_is_asked_in_a_container_with_the_whole_tree_to_fall_back_on(tmp_path: Path, script: str) -> None:
    root = a_project(
        tmp_path, setup_DOT_py=script, requirements_DOT_txt="a\n", x____init___DOT_py="__version__ = '1'\n", x__code_DOT_py=""
    )
    recipe = found(root)
    assert [step.kind for step in recipe.steps] == [StepKind.METADATA, StepKind.PIP]
    assert {"setup.py", "requirements.txt"} <= set(recipe.files)
    assert "x/code.py" not in recipe.files
    assert recipe.fallback is not None
    assert "x/code.py" in recipe.fallback.files


def test_tox_gives_the_dependencies_of_tests_where_nothing_else_does(tmp_path: Path) -> None:
    root = a_project(
        tmp_path,
        setup_DOT_py="from setuptools import setup\nsetup(name='x')\n",
        tox_DOT_ini="[testenv]\ndeps =\n    pytest>=3\n    py27: mock\n    -r{toxinidir}/more.txt\n    {env:X}\n",
        more_DOT_txt="idna\n",
    )
    recipe = found(root)
    assert lines(recipe) == ["pytest>=3"]
    assert recipe.steps[0].arguments == ("-r", GENERATED, "-r", "more.txt")


def test_poetry_requirements_are_held_to_the_lock(tmp_path: Path) -> None:
    pyproject = """
[build-system]
requires = ["poetry-core"]
[tool.poetry]
name = "thing"
[tool.poetry.dependencies]
python = "^3.9"
idna = "^3.1"
zipp = { version = "~1.2", python = "<3.10" }
extra = { version = "*", optional = true }
near = { path = "../near" }
[tool.poetry.group.test.dependencies]
pytest = { version = ">=7", extras = ["dev"] }
[tool.poetry.group.docs.dependencies]
sphinx = "*"
"""
    lock = """
[[package]]
name = "idna"
version = "3.4"
[[package]]
name = "numpy"
version = "1.24.4"
[[package]]
name = "numpy"
version = "2.1.0"
[[package]]
name = "two"
version = "1"
markers = "python_version < '3.10'"
[[package]]
name = "two"
version = "2"
markers = "python_version >= '3.10'"
[[package]]
name = "fork"
version = "1"
[package.source]
type = "git"
url = "https://example.org/fork"
resolved_reference = "abc"
"""
    recipe = found(a_project(tmp_path, pyproject_DOT_toml=pyproject, poetry_DOT_lock=lock))
    assert lines(recipe) == ["idna>=3.1,<4", 'zipp>=1.2,<1.3 ; python_version < "3.10"', "pytest[dev]>=7"]
    assert lines(recipe, ".paritygate/constraints.txt") == [
        "fork @ git+https://example.org/fork@abc",
        "idna==3.4",
        "numpy>=1.24.4,<=2.1.0",
        "two==1 ; python_version < '3.10'",
        "two==2 ; python_version >= '3.10'",
    ]
    assert recipe.requires_python == ">=3.9,<4"
    assert recipe.notes == ("`../near` lies outside the tree: not installed",)


def test_a_uv_workspace_is_installed_from_its_lock_with_every_member_editable(tmp_path: Path) -> None:
    member = '[build-system]\nrequires = ["hatchling"]\n[project]\nname = "%s"\n[dependency-groups]\ntests = ["pytest"]\n'
    lock = """
[[package]]
name = "idna"
version = "3"
source = { registry = "https://example.org/simple" }
[[package]]
name = "all"
source = { virtual = "." }
[[package]]
name = "app"
source = { editable = "packages/app" }
[[package]]
name = "core"
source = { editable = "packages/core" }
"""
    root = a_project(
        tmp_path,
        uv_DOT_lock=lock,
        pyproject_DOT_toml='[project]\nname = "all"\n[tool.uv.workspace]\nmembers = ["packages/*"]\n',
        packages__app__pyproject_DOT_toml=member % "app",
        packages__core__pyproject_DOT_toml=member % "core",
    )
    recipe = found(root, "packages/app")
    assert set(recipe.files) == {"uv.lock", "pyproject.toml", "packages/app/pyproject.toml", "packages/core/pyproject.toml"}
    assert recipe.steps[0].arguments == ("--group", "tests", "--package", "app")
    assert recipe.steps[0].names == ("all", "app", "core")
    assert recipe.members == ("packages/core", "packages/app")


def test_a_pipfile_lock_is_taken_whole(tmp_path: Path) -> None:
    lock = """{"default": {"idna": {"version": "==3.4"}},
"develop": {"pytest": {"version": "==8.0", "markers": "python_version > '3'"}}}"""
    recipe = found(a_project(tmp_path, Pipfile_DOT_lock=lock))
    assert lines(recipe, ".paritygate/pipfile-lock.txt") == ["idna==3.4", "pytest==8.0 ; python_version > '3'"]
    assert recipe.steps[0].arguments == ("--no-deps", "-r", ".paritygate/pipfile-lock.txt")


def test_commands_of_the_configuration_go_before_all_and_find_the_manifests(tmp_path: Path) -> None:
    root = a_project(tmp_path, uv_DOT_lock="", requirements_DOT_txt="idna\n", app_DOT_py="")
    recipe = found(root, install=("pip install -r requirements.txt",))
    assert recipe.steps[0].kind is StepKind.SHELL
    assert set(recipe.files) == {"uv.lock", "requirements.txt"}


def test_an_empty_project_has_an_empty_recipe(tmp_path: Path) -> None:
    recipe = found(a_project(tmp_path, test_it_DOT_py=""))
    assert recipe.steps == ()
    assert recipe.members == ()

"""Commands and plugins of a project as its configuration has them, and the commands that another computer makes of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from paritygate.guest import keeper
from paritygate.images import entry_points

PROJECT = """\
[project]
name = "shop"
[project.scripts]
Open-Shop = "shop.cli:Main.run"
[project.entry-points.pytest11]
shop = "shop.plugin"
[tool.poetry.scripts]
old = "shop.old:main"
"""


def test_they_are_written_as_installers_write_them(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    assert (
        entry_points.of(tmp_path)
        == "[console_scripts]\nold = shop.old:main\nOpen-Shop = shop.cli:Main.run\n\n[pytest11]\nshop = shop.plugin\n"
    )
    (tmp_path / "pyproject.toml").write_text(PROJECT.partition("[tool")[0], encoding="utf-8")
    assert entry_points.of(tmp_path) == "[console_scripts]\nOpen-Shop = shop.cli:Main.run\n\n[pytest11]\nshop = shop.plugin\n"


def test_a_project_that_says_nothing_offers_nothing(tmp_path: Path) -> None:
    assert entry_points.of(tmp_path) == ""
    (tmp_path / "pyproject.toml").write_text("project = 1\n[tool]\npoetry = []\n", encoding="utf-8")
    assert entry_points.of(tmp_path) == ""


def test_a_command_finds_the_project_on_the_search_path_and_ends_as_it_does(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("class Main:\n    @staticmethod\n    def run():\n        print('open')\n        return 3\n")
    commands = tmp_path / "a folder" / "bin"
    commands.mkdir(parents=True)
    (commands / "python").symlink_to(sys.executable)
    keeper.make_commands(str(commands / "python"), "[console_scripts]\nOpen-Shop = shop:Main.run [extra]\n[other]\na = b:c\n")
    assert sorted(path.name for path in commands.iterdir()) == ["Open-Shop", "python"]
    done = subprocess.run(
        [commands / "Open-Shop"], env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (3, "open\n"), done.stderr

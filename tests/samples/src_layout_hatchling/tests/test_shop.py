import subprocess
import sys

import shop_hatchling
import toolz


def test_the_version_is_known():
    assert shop_hatchling.VERSION == "1.2.3"


def test_dependencies_are_installed():
    assert shop_hatchling.TEXT == toolz.first(["tea"])


def test_data_is_found():
    assert shop_hatchling.MENU == "tea\n"


def test_the_installed_command_runs():
    done = subprocess.run(["shop-hatchling"], capture_output=True, check=True, text=True)
    assert done.stdout == "shop is open\n"


def test_the_module_runs_from_elsewhere(tmp_path):
    done = subprocess.run([sys.executable, "-m", "shop_hatchling"], capture_output=True, check=True, text=True, cwd=tmp_path)
    assert done.stdout == "shop is open\n"

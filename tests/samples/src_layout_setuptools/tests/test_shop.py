import subprocess
import sys

import shop_setuptools
import toolz


def test_the_version_is_known():
    assert shop_setuptools.VERSION == "1.2.3"


def test_dependencies_are_installed():
    assert shop_setuptools.TEXT == toolz.first(["tea"])


def test_data_is_found():
    assert shop_setuptools.MENU == "tea\n"


def test_the_installed_command_runs():
    done = subprocess.run(["shop-setuptools"], capture_output=True, check=True, text=True)
    assert done.stdout == "shop is open\n"


def test_the_module_runs_from_elsewhere(tmp_path):
    done = subprocess.run([sys.executable, "-m", "shop_setuptools"], capture_output=True, check=True, text=True, cwd=tmp_path)
    assert done.stdout == "shop is open\n"

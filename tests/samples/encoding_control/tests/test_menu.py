import locale
import os
import pathlib
import subprocess
import sys

MENU = pathlib.Path(__file__).with_name("menu.txt")


def test_a_menu_is_read():
    with open(MENU) as file:
        assert file.read() == "Käse, crème brûlée, 寿司\n"


def test_a_menu_is_written(tmp_path):
    path = tmp_path / "Käse.txt"
    with open(path, "w") as file:
        file.write("寿司")
    assert path.read_bytes() == "寿司".encode("utf-8")
    assert os.listdir(tmp_path) == ["Käse.txt"]


def test_a_child_prints_letters():
    done = subprocess.run([sys.executable, "-c", "print('crème')"], capture_output=True, check=True, text=True)
    assert done.stdout == "crème\n"


def test_the_encoding():
    assert locale.getpreferredencoding(False).lower().replace("-", "") == "utf8"
    assert sys.getfilesystemencoding() == "utf-8"

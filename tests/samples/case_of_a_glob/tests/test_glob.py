import glob
import os

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def names(pattern):
    return sorted(os.path.basename(path) for path in glob.glob(os.path.join(glob.escape(ROOT), pattern)))


def test_the_folder_by_another_spelling():
    assert names("Data/*.json") == ["one.json", "two.json"]


def test_the_folder_by_its_name():
    assert names("data/*.json") == ["one.json", "two.json"]


def test_the_wildcard_tells_case_apart():
    assert names("data/*.JSON") == []

import os
import pathlib
import sqlite3
import tempfile
import uuid

ROOT = pathlib.Path(__file__).parent.parent


def rendered(name):
    lines = (ROOT / "templates" / name).read_text(encoding="utf-8").splitlines()
    return [part for line in lines for part in (rendered(line[8:]) if line.startswith("include ") else [line])]


def test_a_temporary_file(tmp_path):
    (tmp_path / "Report.txt").write_text("done", encoding="utf-8")
    assert (tmp_path / "report.txt").read_text(encoding="utf-8") == "done"


def test_a_file_of_the_home():
    path = pathlib.Path.home() / f".ShopRC-{uuid.uuid4().hex}"
    path.write_text("tea", encoding="utf-8")
    assert path.with_name(path.name.lower()).read_text(encoding="utf-8") == "tea"


def test_a_database(tmp_path):
    with sqlite3.connect(tmp_path / "Shop.db") as shop:
        shop.execute("create table tea (price)")
    with sqlite3.connect(tmp_path / "shop.db") as shop:
        assert shop.execute("select * from tea").fetchall() == []


def test_a_template_includes_another():
    assert rendered("page.txt") == ["a header"]


def test_only_one_of_two_spellings_can_be_made(tmp_path):
    (tmp_path / "One").mkdir()
    (tmp_path / "one").mkdir()


def test_a_rename_that_changes_case_alone(tmp_path):
    (tmp_path / "readme.md").write_text("read me", encoding="utf-8")
    os.rename(tmp_path / "readme.md", tmp_path / "README.md")
    assert os.listdir(tmp_path) == ["README.md"]


def test_a_name_that_was_looked_for_before_it_was_made(tmp_path):
    assert not (tmp_path / "late").exists()
    (tmp_path / "late").touch()
    assert (tmp_path / "late").exists()


def test_from_the_temporary_folder_into_the_workspace():
    handle, path = tempfile.mkstemp()
    os.close(handle)
    target = ROOT / f"moved-{uuid.uuid4().hex}"
    os.replace(path, target)
    target.unlink()

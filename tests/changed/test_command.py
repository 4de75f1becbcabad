"""`paritygate changed` on real repositories: each touched file with the tests that can see it, or why nobody can say."""

from __future__ import annotations

from pathlib import Path

import pytest

from paritygate import archive
from tests.support.builders import an_artifact
from tests.support.command_line import call, commit
from tests.support.patches import chosen, touch, write
from tests.support.samples import git

FILES = {
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n[tool.pytest.ini_options]\ntestpaths = ["tests"]\n',
    "README.md": "# Shop\n",
    "src/shop/__init__.py": "",
    "src/shop/prices.py": "from .rounding import to_cents\n",
    "src/shop/rounding.py": "def to_cents(value):\n    return round(value, 2)\n",
    "src/shop/stock.py": "import shop.units as units\n",
    "src/shop/units.py": "BOX = 12\n",
    "src/shop/plugins/__init__.py": "",
    "src/shop/plugins/mail.py": "",
    "src/shop/unused.py": "",
    "tests/conftest.py": "",
    "tests/test_prices.py": "from shop import prices\ndef test_one():\n    assert prices\n",
    "tests/test_stock.py": "import shop.stock\ndef test_boxes():\n    assert open('tests/data/boxes.json')\n",
    "tests/test_units.py": "def test_nothing():\n    pass\n",
    "tests/deep/conftest.py": "from shop.plugins import mail\n",
    "tests/deep/test_mail.py": "def test_sent():\n    pass\n",
    "tests/deep/test_patched.py": "def test_it(monkeypatch):\n    monkeypatch.setattr('shop.stock.units', None)\n",
    "tests/data/boxes.json": "[]",
    "tests/data/lost.bin": "",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        write(tmp_path, name, text)
    return commit(tmp_path, new=True)


@pytest.mark.parametrize(
    ("name", "tests"),
    [
        ("src/shop/prices.py", ["tests/test_prices.py"]),
        ("src/shop/rounding.py", ["tests/test_prices.py"]),
        ("src/shop/units.py", ["tests/deep/test_patched.py", "tests/test_stock.py", "tests/test_units.py"]),
        ("src/shop/plugins/mail.py", ["tests/deep/test_mail.py", "tests/deep/test_patched.py"]),
        ("tests/deep/conftest.py", ["tests/deep/test_mail.py", "tests/deep/test_patched.py"]),
        ("tests/test_stock.py", ["tests/test_stock.py"]),
        ("tests/data/boxes.json", ["tests/test_stock.py"]),
        ("tests/test_new.py", ["tests/test_new.py"]),
    ],
)
def test_a_touched_file_chooses_the_tests_that_can_see_it(shop: Path, name: str, tests: list[str]) -> None:
    touch(shop, name)
    said = call(shop, "changed")
    assert said.code == 0, said.err
    assert chosen(said, name) == tests


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("pyproject.toml", "it configures pytest or the project"),
        ("requirements-dev.txt", "it decides what is installed"),
        ("src/shop/unused.py", "no test is known to import it"),
        ("assets/lost.bin", "no test is known to mention it"),
        ("tests/deep/setup.cfg", "it configures pytest or the project"),
    ],
)
def test_what_cannot_be_mapped_widens_to_everything_with_the_reason(shop: Path, name: str, why: str) -> None:
    touch(shop, name, "src/shop/prices.py")
    said = call(shop, "changed")
    assert "and everything is chosen" in said.out
    assert chosen(said, name)[0] == "everything"
    assert why in said.out
    assert chosen(said, "src/shop/prices.py") == ["tests/test_prices.py"]


def test_the_base_is_where_head_parted_from_the_default_branch(shop: Path) -> None:
    git(shop, "checkout", "--quiet", "-b", "work")
    touch(shop, "src/shop/prices.py")
    commit(shop)
    git(shop, "checkout", "--quiet", "main")
    touch(shop, "src/shop/stock.py")
    commit(shop)
    git(shop, "checkout", "--quiet", "work")
    touch(shop, "tests/test_units.py")
    said = call(shop, "changed")
    assert [line.split(":")[0].strip() for line in said.out.splitlines()[1:]] == ["src/shop/prices.py", "tests/test_units.py"]
    assert call(shop, "changed", "--base", "HEAD").out.count("\n") == 2


def test_a_file_that_is_gone_chooses_who_still_asks_for_it(shop: Path) -> None:
    git(shop, "rm", "--quiet", "src/shop/rounding.py", "tests/test_units.py")
    said = call(shop, "changed")
    assert chosen(said, "src/shop/rounding.py") == ["tests/test_prices.py"]
    assert chosen(said, "tests/test_units.py") == ["no test: it is gone"]


def test_a_file_that_python_cannot_parse_may_see_anything(shop: Path) -> None:
    write(shop, "tests/test_broken.py", "def test(:\n")
    commit(shop)
    touch(shop, "src/shop/prices.py")
    assert chosen(call(shop, "changed"), "src/shop/prices.py") == ["tests/test_broken.py", "tests/test_prices.py"]


@pytest.mark.parametrize(
    "text",
    [
        "import importlib\ndef test(name):\n    importlib.import_module(name)\n",
        "import subprocess\ndef test():\n    subprocess.run(['shop'])\n",
        "def test(pytester):\n    pytester.runpytest()\n",
        "import os\ndef test():\n    os.execv('/bin/shop', [])\n",
        "def test(code):\n    exec(code)\n",
        "import importlib\ndef test():\n    importlib.import_module('shop.prices')\n",
        "from importlib import import_module as load\nload('prices', 'shop')\n",
        "try:\n    import shop as it\nexcept ImportError:\n    import other as it\nasked = it.prices\n",
        "import importlib\ndef test():\n    importlib.import_module('.prices', 'shop')\n",
        "pytest_plugins = ['shop.prices']\n",
        "def test(mocker):\n    mocker.patch('shop.prices.to_cents')\n",
        "import shop\nasked = shop.prices.to_cents\n",
        "import sys\nsys.path.insert(0, 'src/shop')\nimport prices\n",
        "try:\n    from shop.prices import *\nexcept ImportError:\n    pass\n",
        "from pathlib import Path\nNAMES = list(Path('src').rglob('*.py'))\n",
        "import os\nNAMES = os.listdir('src')\n",
    ],
)
def test_no_way_of_seeing_a_module_is_missed(shop: Path, text: str) -> None:
    write(shop, "tests/test_way.py", text)
    commit(shop)
    touch(shop, "src/shop/prices.py")
    assert "tests/test_way.py" in chosen(call(shop, "changed"), "src/shop/prices.py")


@pytest.mark.parametrize(
    "text",
    [
        "NAME = 'rates'\nopen(f'tests/data/{NAME}.csv')\n",
        "import glob\nglob.glob('tests/*/*.csv')\n",
        "PATTERN = 'tests/data/*.csv'\n",
        "import os\nFOLDER = os.path.join('tests', 'data')\n",
        "from pathlib import Path\nlist(Path(__file__).parent.iterdir())\n",
        "def test_rates():\n    pass\n",
    ],
)
def test_no_way_of_seeing_a_data_file_is_missed(shop: Path, text: str) -> None:
    write(shop, "tests/test_way.py", text)
    write(shop, "tests/test_sure.py", "NAMES = 'test_rates.csv', 'rates.csv'\n")
    write(shop, "tests/data/test_rates.csv" if "def " in text else "tests/data/rates.csv", "1")
    commit(shop)
    name = next(shop.glob("tests/data/*.csv")).relative_to(shop).as_posix()
    touch(shop, name)
    assert "tests/test_way.py" in chosen(call(shop, "changed"), name)


def test_paths_bound_what_may_be_chosen(shop: Path) -> None:
    touch(shop, "src/shop/units.py")
    said = call(shop, "changed", "tests/deep")
    assert chosen(said, "src/shop/units.py") == ["tests/deep/test_patched.py"]


def test_nothing_touched_is_no_verdict(shop: Path) -> None:
    said = call(shop, "changed")
    assert said.code == 4
    assert "nothing differs from commit" in said.err


def test_a_report_of_ours_is_no_part_of_a_patch(shop: Path) -> None:
    write(shop, "parity_report.json", "{}")
    write(shop, ".paritygate/freezes.json", "{}")
    assert call(shop, "changed").code == 4


def test_an_untracked_report_is_told_by_what_it_holds_and_said_to_be_left_out(shop: Path) -> None:
    archive.write(an_artifact(), shop / "old.json")
    write(shop, "old.html", "<html>")
    write(shop, "tests/test_units.py", "# changed\n")
    said = call(shop, "changed")
    assert said.out.splitlines()[1:] == [
        "  old.html: no test: it is a report of paritygate that git does not track",
        "  old.json: no test: it is a report of paritygate that git does not track",
        "  tests/test_units.py: tests/test_units.py",
    ]


def test_a_report_above_the_folder_in_which_one_stands_is_left_out_too(shop: Path, tmp_path: Path) -> None:
    write(tmp_path, "ex/tests/test_one.py", "def test_a(): pass\n")
    commit(shop)
    archive.write(an_artifact(), shop / "ex/parity_report.json")
    said = call(shop / "ex/tests", "changed")
    assert said.code == 4
    assert "ex/parity_report.json: no test: it is a report of paritygate that git does not track" in said.err


@pytest.mark.parametrize("how", ["tracked", "read by a test", "something else", "cut short"])
def test_a_file_that_may_be_data_of_tests_is_no_report_of_ours(shop: Path, how: str) -> None:
    if how == "read by a test":
        write(shop, "tests/test_units.py", "NAME = 'old.json'\n")
        commit(shop)
    archive.write(an_artifact(), shop / "old.json")
    if how == "something else":
        write(shop, "old.json", '{"schema":1,"paritygate":"yes"}')
    if how == "cut short":
        write(shop, "old.json", (shop / "old.json").read_text()[:500])
    if how == "tracked":
        git(shop, "add", "old.json")
    found = ["tests/test_units.py"] if how == "read by a test" else ["everything", "since no test is known to mention it"]
    assert chosen(call(shop, "changed"), "old.json") == found


def test_the_base_may_be_spelled_as_run_spells_it(shop: Path) -> None:
    touch(shop, "src/shop/prices.py")
    commit(shop)
    plain = call(shop, "changed", "--base", "HEAD~1")
    assert plain.code == 0
    assert call(shop, "changed", "--changed=HEAD~1").out == plain.out
    assert call(shop, "changed", "--changed").code == 4
    assert call(shop, "changed", "--base=HEAD", "--changed=HEAD~1").code == 64


def test_two_histories_that_never_met_are_not_called_a_shallow_clone(shop: Path) -> None:
    git(shop, "checkout", "--quiet", "--orphan", "other")
    touch(shop, "src/shop/prices.py")
    commit(shop)
    said = call(shop, "changed", "--base", "main")
    assert (said.code, "unshallow" in said.err, "no history in common" in said.err) == (64, False, True), said.err


def test_a_shallow_clone_is_told_what_it_lacks(shop: Path, tmp_path: Path) -> None:
    git(shop, "checkout", "--quiet", "-b", "work")
    touch(shop, "src/shop/prices.py")
    commit(shop)
    git(shop, "checkout", "--quiet", "main")
    git(tmp_path, "clone", "--quiet", "--depth", "1", "--branch", "work", f"file://{shop}", "shallow")
    said = call(tmp_path / "shallow", "changed")
    assert (said.code, "git fetch --unshallow origin main" in said.err) == (64, True), said.err


def test_tests_that_git_ignores_count_where_they_exist(shop: Path) -> None:
    write(shop, ".gitignore", "test_mine.py\n")
    write(shop, "tests/test_mine.py", "import shop.rounding\n")
    commit(shop)
    touch(shop, "src/shop/prices.py", "tests/test_mine.py")
    said = call(shop, "changed")
    assert said.out.count("\n") == 2
    touch(shop, "src/shop/rounding.py")
    assert chosen(call(shop, "changed"), "src/shop/rounding.py") == ["tests/test_mine.py", "tests/test_prices.py"]


def test_prose_that_no_test_reads_chooses_nothing(shop: Path) -> None:
    touch(shop, "README.md")
    said = call(shop, "changed")
    assert said.code == 4
    assert "README.md: no test: no test mentions it or lists folders" in said.err


def test_prose_that_a_test_reads_chooses_it(shop: Path) -> None:
    write(shop, "tests/test_prose.py", "TEXT = open('README.md').read()\n")
    commit(shop)
    touch(shop, "README.md")
    assert chosen(call(shop, "changed"), "README.md") == ["tests/test_prose.py"]


def test_a_base_that_git_does_not_know_is_a_mistake_of_usage(shop: Path) -> None:
    said = call(shop, "changed", "--base", "nowhere")
    assert said.code == 64
    assert "git knows no commit `nowhere`" in said.err


def test_without_git_it_says_so(tmp_path: Path) -> None:
    write(tmp_path, "tests/test_a.py", "")
    said = call(tmp_path, "changed")
    assert said.code == 64
    assert "git repository" in said.err


def test_a_link_hides_what_is_behind_it(shop: Path) -> None:
    (shop / "vendored").symlink_to("src/shop")
    commit(shop)
    touch(shop, "src/shop/prices.py")
    assert "everything, since it is also reached by the link `vendored`" in call(shop, "changed").out


def test_with_doctests_a_module_is_a_test_and_a_module(shop: Path) -> None:
    write(shop, "pytest.ini", "[pytest]\naddopts = --doctest-modules\n")
    write(shop, "tests/test_opaque.py", "import subprocess\n")
    commit(shop)
    touch(shop, "src/shop/rounding.py")
    found = chosen(call(shop, "changed"), "src/shop/rounding.py")
    assert found == ["src/shop/prices.py", "src/shop/rounding.py", "tests/test_opaque.py", "tests/test_prices.py"]


def test_a_plugin_of_the_project_is_seen_by_every_test(shop: Path) -> None:
    write(shop, "pyproject.toml", FILES["pyproject.toml"] + '[project.entry-points.pytest11]\nshop = "shop.unused"\n')
    commit(shop)
    touch(shop, "src/shop/unused.py")
    assert len(chosen(call(shop, "changed"), "src/shop/unused.py")) == 5


def test_a_value_that_is_no_commit_but_a_path_is_explained(shop: Path) -> None:
    said = call(shop, "changed", "--base", "tests")
    assert said.code == 64
    assert "paths go before `--changed`" in said.err


def test_configuration_below_the_project_governs_the_tests_below_it(shop: Path) -> None:
    touch(shop, "tests/deep/pytest.ini")
    assert chosen(call(shop, "changed"), "tests/deep/pytest.ini") == ["tests/deep/test_mail.py", "tests/deep/test_patched.py"]


def test_a_module_that_lists_its_folder_sees_the_data_in_it(shop: Path) -> None:
    write(shop, "src/shop/prices.py", "from pathlib import Path\nALL = list(Path(__file__).parent.iterdir())\n")
    write(shop, "tests/test_sure.py", "NAME = 'rates.csv'\n")
    commit(shop)
    write(shop, "src/shop/rates.csv", "1")
    assert chosen(call(shop, "changed"), "src/shop/rates.csv") == ["tests/test_prices.py", "tests/test_sure.py"]


def test_tests_in_texts_and_tests_that_are_named_after_a_module_see_it(shop: Path) -> None:
    write(shop, "tests/test_text.txt", ">>> 1\n1\n")
    write(shop, "tests/all_prices_test.py", "")
    commit(shop)
    touch(shop, "src/shop/prices.py")
    found = chosen(call(shop, "changed"), "src/shop/prices.py")
    assert found == ["tests/all_prices_test.py", "tests/test_prices.py", "tests/test_text.txt"]


def test_a_test_file_of_an_odd_name_counts_where_it_is_named(shop: Path) -> None:
    write(shop, "tests/checks.py", "import shop.prices\n")
    commit(shop)
    touch(shop, "src/shop/prices.py")
    assert chosen(call(shop, "changed", "tests/checks.py"), "src/shop/prices.py") == ["tests/checks.py"]


def test_prose_that_is_gone_may_be_missed_by_the_installation(shop: Path) -> None:
    git(shop, "rm", "--quiet", "README.md")
    assert chosen(call(shop, "changed"), "README.md")[0] == "everything"


def test_a_file_that_was_renamed_is_touched_under_both_names(shop: Path) -> None:
    git(shop, "mv", "src/shop/rounding.py", "src/shop/rounds.py")
    said = call(shop, "changed")
    assert chosen(said, "src/shop/rounding.py") == ["tests/test_prices.py"]
    assert chosen(said, "src/shop/rounds.py")[0] == "everything"


def test_a_file_that_is_staged_for_deletion_and_still_on_disk_is_touched(shop: Path) -> None:
    git(shop, "rm", "--quiet", "--cached", "src/shop/rounding.py")
    write(shop, ".git/info/exclude", "rounding.py\n")
    assert chosen(call(shop, "changed"), "src/shop/rounding.py") == ["tests/test_prices.py"]


def test_a_plugin_that_the_options_load_is_seen_by_every_test(shop: Path) -> None:
    write(shop, "pytest.ini", "[pytest]\naddopts = -p shop.unused\n")
    commit(shop)
    touch(shop, "src/shop/unused.py")
    found = chosen(call(shop, "changed"), "src/shop/unused.py")
    assert len(found) == 5
    assert found[0] == "tests/deep/test_mail.py"


def test_reports_of_a_project_below_the_top_are_no_part_of_a_patch(shop: Path, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    write(inner, "pyproject.toml", '[tool.paritygate]\nreport = "out/r.json"\n')
    write(inner, "tests/test_a.py", "")
    commit(shop)
    for name in ("out/r.json", "parity_report.json", ".paritygate/freezes.json"):
        write(inner, name, "{}")
    assert call(inner, "changed").code == 4


def test_what_is_staged_is_touched_though_the_disk_has_it_as_it_was(shop: Path) -> None:
    touch(shop, "src/shop/rounding.py")
    git(shop, "add", "--all")
    write(shop, "src/shop/rounding.py", FILES["src/shop/rounding.py"])
    assert chosen(call(shop, "changed"), "src/shop/rounding.py") == ["tests/test_prices.py"]


def test_where_tests_move_imports_a_name_means_every_file_that_has_it(shop: Path) -> None:
    write(shop, "tests/test_moved.py", "import sys\nsys.path.insert(0, 'src/shop')\nimport prices\n")
    write(shop, "prices.py", "")
    commit(shop)
    touch(shop, "src/shop/prices.py")
    assert chosen(call(shop, "changed"), "src/shop/prices.py") == ["tests/test_moved.py", "tests/test_prices.py"]


def test_a_test_file_in_a_folder_that_pytest_does_not_enter_is_not_asked_for(shop: Path) -> None:
    write(shop, "tests/build/test_it.py", "import shop.prices\n")
    commit(shop)
    touch(shop, "src/shop/prices.py")
    said = call(shop, "changed")
    assert "1 of 5 test files is chosen" in said.out

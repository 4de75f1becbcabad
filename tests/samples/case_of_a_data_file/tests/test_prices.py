import pathlib
import subprocess

ROOT = pathlib.Path(__file__).parent.parent


def test_prices_are_read():
    assert (ROOT / "data" / "Prices.csv").read_text(encoding="utf-8").startswith("tea")


def test_there_are_prices():
    assert (ROOT / "data" / "PRICES.CSV").exists()


def test_another_program_reads_prices():
    assert subprocess.run(["cat", "data/prices.CSV"], cwd=ROOT, stdout=subprocess.PIPE).stdout == b"tea,3\nmilk,1\n"


def test_the_folder_by_another_name():
    assert (ROOT / "Data" / "prices.csv").is_file()


def test_the_right_spelling():
    assert (ROOT / "data" / "prices.csv").read_text(encoding="utf-8").endswith("milk,1\n")


def test_what_is_not_there_is_nowhere():
    assert not (ROOT / "data" / "price.csv").exists()

import json
import pathlib
import subprocess
import sys

import pytest

DATA = pathlib.Path(__file__).parent.parent / "data"
PRINT = "import pathlib, sys; print(pathlib.Path(sys.argv[1]).read_text(encoding='utf-8'))"


def read(name):
    return json.loads((DATA / name).read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def rates():
    return read("rates.json") if (DATA / "rates.json").exists() else {}


def test_rates_are_positive():
    assert all(rate > 0 for rate in read("rates.json").values())


def test_rates_have_a_currency(rates):
    assert "EUR" in rates


def test_rates_are_few(rates):
    assert 0 < len(rates) < 100


def test_another_program_reads_them():
    command = [sys.executable, "-c", PRINT, str(DATA / "rates.json")]
    assert "EUR" in subprocess.run(command, capture_output=True, text=True).stdout


def test_there_are_two_files():
    assert len(list(DATA.iterdir())) == 2


def test_runs_only_where_there_are_rates():
    if not (DATA / "rates.json").exists():
        pytest.skip("no rates")


def test_a_tracked_file():
    assert read("names.json") == {"EUR": "euro"}

import datetime
import pathlib

DATA = pathlib.Path(__file__).parent.parent / "data"


def test_prices_are_whole_numbers():
    lines = (DATA / "prices.csv").read_text(encoding="utf-8").splitlines()
    assert sorted(int(line.partition(",")[2]) for line in lines) == [2, 3]


def test_a_day_is_a_day():
    assert datetime.date(2028, 2, 28) + datetime.timedelta(days=1) == datetime.date(2028, 2, 29)


def test_a_set_holds_what_was_put_into_it(tmp_path):
    (tmp_path / "list.txt").write_text("tea", encoding="utf-8")
    assert {each.name for each in tmp_path.iterdir()} == {"list.txt"}

import datetime
import subprocess
import time


def a_year_after(day):
    return day.replace(year=day.year + 1)


def test_a_contract_ends_a_year_after_today():
    today = datetime.date.today()
    assert a_year_after(today) > today


def test_what_came_half_an_hour_ago_is_of_today():
    now = datetime.datetime.now()
    assert (now - datetime.timedelta(minutes=30)).date() == now.date()


def test_a_year_after_a_day_that_is_handed_in():
    assert a_year_after(datetime.date(2027, 6, 15)) == datetime.date(2028, 6, 15)


def test_a_program_without_variables_has_the_same_date():
    said = subprocess.run(["date", "+%Y"], env={"PATH": "/usr/bin:/bin"}, stdout=subprocess.PIPE, check=True)
    assert int(said.stdout) == datetime.date.today().year


def test_waiting_takes_as_long_as_it_takes():
    began = time.monotonic()
    time.sleep(0.05)
    assert 0.05 <= time.monotonic() - began < 60

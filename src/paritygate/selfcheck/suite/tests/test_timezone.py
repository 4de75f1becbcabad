import datetime


def order_day():
    return datetime.date.today()


def test_an_order_is_of_today():
    assert order_day() == datetime.datetime.now(datetime.timezone.utc).date()

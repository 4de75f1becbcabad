import time

BANNER = time.strftime("shop since %d.%m.%Y %H:%M", time.localtime(0))
OFFSET = time.strftime("%z")


def test_the_banner_says_the_epoch():
    assert BANNER.endswith("01.01.1970 00:00")


def test_the_zone_is_written_down():
    assert OFFSET == "+0000"


def test_the_banner_has_a_name():
    assert BANNER.startswith("shop ")

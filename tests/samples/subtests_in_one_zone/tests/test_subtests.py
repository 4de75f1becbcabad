import time
import unittest


class TestHours(unittest.TestCase):
    def test_epoch_hours(self):
        for hour in range(3):
            with self.subTest(hour=hour):
                self.assertEqual(time.strftime("%d %H", time.localtime(hour * 3600)), f"01 0{hour}")

    def test_every_hour(self):
        for hour in range(24):
            with self.subTest(hour=hour):
                self.assertLess(hour, 24)


def test_epoch_minutes(subtests):
    for minute in range(3):
        with subtests.test(minute=minute):
            assert time.strftime("%H:%M", time.localtime(minute * 60)) == f"00:0{minute}"


def test_every_minute(subtests):
    for minute in range(60):
        with subtests.test(minute=minute):
            assert minute < 60

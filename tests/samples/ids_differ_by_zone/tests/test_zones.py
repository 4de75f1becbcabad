from datetime import datetime

import pytest

OFFSET = datetime.now().astimezone().utcoffset()


@pytest.mark.parametrize("zone", ["elsewhere" if OFFSET else "utc"])
def test_zone(zone):
    assert zone


def test_offset_is_whole_minutes():
    assert OFFSET.seconds % 60 == 0

"""Each kind of hazard where it is one, and beside it what looks like it and is none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.hazards.conftest import Project

HEAD = (
    "import datetime as dt\nfrom datetime import UTC, date, datetime, timedelta\nimport glob, locale, os, socket, sqlite3\n"
    "import tempfile, time\n"
    "from pathlib import Path\nimport pytest\n"
)
START = HEAD.count("\n") + 1

FOUND = [
    ("locale-encoding", "def test_a(a):\n    assert a.read_text() == 'é'\n", 1),
    ("naive-clock", "def test_a():\n    assert datetime.now().hour == 9\n", 1),
    ("naive-clock", "def test_a():\n    now = datetime.now()\n    assert now.strftime('%H') == '09'\n", 1),
    ("local-time", "def test_a():\n    assert datetime.fromtimestamp(0).hour == 0\n", 1),
    ("local-time", "def test_a():\n    assert datetime(2026, 1, 1).timestamp() == 1767225600.0\n", 1),
    ("local-time", "def test_a():\n    assert time.mktime((2026, 1, 1, 0, 0, 0, 0, 0, 0)) == 1767225600.0\n", 1),
    ("clock-in-assertion", "def test_a():\n    assert invoice().day == date.today()\n", 1),
    ("clock-in-assertion", "def test_a():\n    now = dt.datetime.now(UTC)\n    assert invoice().year == now.year\n", 1),
    ("clock-in-assertion", "def test_a():\n    day = today = date.today()\n    assert invoice().day == day\n", 1),
    ("clock-in-assertion", "class TestA:\n    def test_a(self):\n        self.assertEqual(invoice().day, date.today())\n", 2),
    ("timed-assertion", "def test_a():\n    start = time.monotonic()\n    work()\n    assert time.monotonic() - start < 1\n", 3),
    ("timed-assertion", "def test_a():\n    a = time.time()\n    b = time.time()\n    took = b - a\n    assert 0.5 > took\n", 4),
    (
        "read-at-import",
        "@pytest.mark.parametrize('text', [datetime.now(UTC).isoformat()])\ndef test_a(text):\n    assert text\n",
        0,
    ),
    ("read-at-import", "TODAY = date.today()\ndef test_a():\n    assert invoice().year == TODAY.year\n", 0),
    ("locale-format", "def test_a():\n    assert datetime(2026, 1, 1).strftime('%x') == '01/01/26'\n", 1),
    ("locale-format", "def test_a():\n    assert f'{1000:n}' == '1000'\n", 1),
    ("locale-format", "def test_a():\n    assert locale.currency(1) == '$1'\n", 1),
    ("locale-order", "def test_a():\n    assert sorted('Ba', key=locale.strxfrm) == ['B', 'a']\n", 1),
    ("locale-encoding", "def test_a(tmp_path):\n    (tmp_path / 'a').write_text('é')\n    assert (tmp_path / 'a').exists()\n", 1),
    ("locale-encoding", "def test_a(tmp_path):\n    with open(tmp_path / 'a', 'w') as f:\n        f.write('naïve')\n", 1),
    (
        "locale-encoding",
        "def test_a(a):\n    open(a, 'w', encoding='utf-8').write('é')\n    assert a.read_text() == 'é'\n",
        2,
    ),
    ("folder-order", "def test_a(tmp_path):\n    assert os.listdir(tmp_path) == ['a', 'b']\n", 1),
    (
        "folder-order",
        "def test_a(tmp_path):\n    names = [p.name for p in tmp_path.iterdir()]\n    assert names == ['a', 'b']\n",
        1,
    ),
    ("folder-order", "def test_a(tmp_path):\n    assert ','.join(os.listdir(tmp_path)) == 'a,b'\n", 1),
    ("folder-order", "def test_a():\n    assert glob.glob('*.txt')[1] == 'b.txt'\n", 1),
    ("locale-encoding", "def test_a(tmp_path):\n    said = 'é'\n    (tmp_path / 'a').write_text('%s' % said)\n", 2),
    ("set-order", "def test_a(words):\n    assert list(set(words)) == ['a', 'b']\n", 1),
    ("set-order", "def test_a():\n    assert ' '.join({'a', 'b'}) == 'a b'\n", 1),
    ("set-order", "def got():\n    return {'a', 'b'}\ndef test_a():\n    assert ' '.join(got()) == 'a b'\n", 3),
    (
        "folder-order",
        "def both(p):\n    return ''.join(map(str, p))\ndef test_a():\n    assert both(Path().iterdir()) == 'ab'\n",
        3,
    ),
    ("fixed-port", "PORT = 8123\ndef test_a():\n    s = socket.socket()\n    s.bind(('127.0.0.1', PORT))\n", 3),
    ("fixed-port", "from http.server import HTTPServer\ndef test_a():\n    HTTPServer(('', 8000), None)\n", 2),
    ("fixed-temporary-path", "def test_a():\n    with open('/tmp/out.bin', 'wb') as f:\n        f.write(b'')\n", 1),
    ("fixed-temporary-path", "def test_a():\n    Path('/var/tmp/mine').mkdir()\n", 1),
    ("fixed-temporary-path", "DB = '/tmp/test.db'\ndef test_a():\n    sqlite3.connect(DB)\n", 2),
    (
        "read-at-import",
        "TODAY = date.today()\nTOMORROW = TODAY + timedelta(days=1)\ndef test_a():\n    assert due() == TOMORROW\n",
        0,
    ),
    ("read-at-import", "NOW = datetime.now()\ndef test_a():\n    assert NOW + timedelta(seconds=5) > due()\n", 0),
    # The limit is near to what the test waits anyway, by what it hands on or by what it expects at least.
    ("timed-assertion", "def test_a():\n    a = time.time()\n    assert_gone(timeout=4)\n    assert time.time() - a < 4.5\n", 3),
    ("timed-assertion", "def test_a():\n    a = time.time()\n    time.sleep(9)\n    assert time.time() - a < 10\n", 3),
    (
        "timed-assertion",
        "def test_a(s):\n    a = time.time()\n    b = time.time() - a\n    s.assertTrue(b >= 3)\n    assert b <= 4.5\n",
        4,
    ),
    (
        "timed-assertion",
        "def test_a():\n    t0 = time.time()\n    work()\n    t1 = time.time()\n    assert t1 - t0 == pytest.approx(0.3, 0.2)\n",
        4,
    ),
    ("clock-in-assertion", "def test_a(token):\n    now = time.time()\n    assert token.until == now + 3600\n", 1),
    # The moment of a constant is expected of something that was not given it.
    ("read-at-import", "NOW = datetime.now()\ndef test_a(self):\n    self.assertEqual(due().day, NOW.day)\n", 0),
    # A true socket, under any name.
    (
        "fixed-port",
        "def test_a():\n    with socket.socket() as s:\n        mine = socket.socket()\n        mine.bind(('', 8123))\n",
        3,
    ),
    # What the locale makes meets something written out, also by a name.
    (
        "locale-format",
        "def test_a():\n    said = date(2026, 1, 1).strftime('%c')\n    assert said == 'Thu Jan  1 00:00:00 2026'\n",
        1,
    ),
    ("locale-format", "class TestA:\n    def test_a(self):\n        self.assertEqual(day().strftime('%x'), '01/01/26')\n", 2),
    # Written in the locale's encoding, read in another one.
    (
        "locale-encoding",
        "def test_a(a):\n    a.write_text('é')\n    assert a.read_text(encoding='utf-8') == 'é'\n",
        1,
    ),
    ("variable-write", "@pytest.fixture\ndef mode():\n    os.environ['MODE'] = 'x'\n    return 'x'\ndef test_a(mode): ...\n", 2),
    ("variable-write", "os.environ['LC_ALL'] = 'C'\ndef test_a():\n    pass\n", 0),
    ("locale-encoding", "def test_a(tmp_path):\n    said = 'é'\n    (tmp_path / 'a').write_text('0' + said)\n", 2),
    ("set-order", "def test_a(words):\n    assert list({w for w in words if w > 'a'}) == ['a', 'b']\n", 1),
    ("variable-write", "@pytest.mark.skipif(OLD, reason='')\ndef test_a():\n    os.environ['MODE'] = 'x'\n", 2),
    ("variable-write", "@pytest.mark.parametrize('how', ['--skip'])\ndef test_a(how):\n    os.environ['MODE'] = how\n", 2),
    ("variable-write", "os.environ['TZ'] = 'UTC'\ndef test_a():\n    pass\n", 0),
    ("variable-write", "def test_a():\n    os.environ['MODE'] = 'x'\n    assert mode() == 'x'\n", 1),
]

HARMLESS = [
    # It never runs.
    "@pytest.mark.skip\ndef test_a():\n    os.environ['MODE'] = 'x'\n",
    "@pytest.mark.skipif(True, reason='slow')\ndef test_a():\n    os.environ['MODE'] = 'x'\n",
    "@unittest.skip('slow')\nclass TestA:\n    def test_a(self):\n        os.environ['MODE'] = 'x'\n",
    # Any moment would do: it is handed in and comes back.
    "def test_a():\n    now = datetime.now()\n    assert echo(now) == now\n",
    "def test_a():\n    assert isinstance(parse(datetime.now().isoformat()), datetime)\n",
    "def test_a():\n    today = date.today()\n    assert next(days(today)) == today + timedelta(days=1)\n",
    # The clock is pinned, or not the machine's.
    "@freeze_time('2026-01-01')\ndef test_a():\n    assert invoice().day == date.today()\n",
    "def test_a(freezer):\n    assert label(date.today()) == 'today'\n",
    "with freeze_time('2026-01-01'):\n    TODAY = date.today()\ndef test_a():\n    assert invoice().year == TODAY.year\n",
    "def test_a():\n    assert parse('local') == datetime.now().astimezone().tzinfo\n",
    "def test_a():\n    assert datetime.fromtimestamp(0, UTC).hour == 0\n",
    "def test_a():\n    assert datetime(2026, 1, 1, tzinfo=UTC).timestamp() == 1767225600.0\n",
    "def test_a(seen):\n    t0 = time.time()\n    work()\n    assert seen[0] - t0 == pytest.approx(0.1, 0.1)\n",
    # Nothing is asserted, or only that it took long enough, or that it does not hang.
    "def test_a(benchmark):\n    benchmark(label, date.today())\n",
    "def test_a():\n    start = time.time()\n    wait()\n    assert time.time() - start >= 1\n",
    "def test_a():\n    start = time.time()\n    wait()\n    assert time.time() - start < 120\n",
    "def test_a():\n    size = 5 - len('abc')\n    assert size < 3\n",
    "def test_a():\n    start = time.time()\n    wait()\n    assert time.time() - start < 30\n",
    "def test_a():\n    assert invoice().year == time.gmtime(0).tm_year\n",
    "def test_a():\n    with mock_datetime(2026, 1, 1):\n        assert invoice().day == date.today()\n",
    "def test_a():\n    assert invoice().offset == time.localtime().tm_gmtoff\n",
    "def test_a(self):\n    here = time.localtime().tm_gmtoff\n    self.assertEqual(invoice().offset, here)\n",
    # Only how long it took, or how far apart two moments are, made of one reading.
    "def test_a():\n    start = datetime.now()\n    wait()\n    took = datetime.now() - start\n    assert took.days == 0\n",
    "def test_a():\n    now = date.today()\n    assert apart(now + timedelta(days=1), now) == '1 day'\n",
    # Made at import, and never used after it, or no more than some moment.
    "TODAY = date.today()\nTOMORROW = TODAY + timedelta(days=1)\ndef test_a():\n    assert True\n",
    "NOW = datetime.now()\ndef test_a():\n    assert later(NOW, NOW + timedelta(days=1))\n",
    # Written out.
    "def test_a():\n    assert datetime(2026, 1, 1).strftime('%Y-%m-%d %%x') == '2026-01-01 %x'\n",
    "def test_a():\n    assert f'{1000:d}' == '1000'\n",
    # All ASCII, bytes, or with an encoding.
    "def test_a(tmp_path):\n    (tmp_path / 'a').write_text('plain')\n",
    "def test_a(tmp_path):\n    plain = 'x'\n    (tmp_path / 'a').write_text(plain)\n    assert echo('é')\n",
    "def test_a(tmp_path):\n    said = 'é'\n    (tmp_path / 'a').write_text('0' * 20 + 'x')\n",
    "def test_a(tmp_path):\n    (tmp_path / 'a').write_text('é', encoding='utf-8')\n",
    "def test_a(tmp_path):\n    open(tmp_path / 'é', 'w').close()\n",
    "def test_a(tmp_path):\n    assert open(tmp_path / 'a', 'rb').read() == 'é'.encode()\n",
    # Order does not show, or there is one.
    "def test_a(tmp_path):\n    assert sorted(os.listdir(tmp_path)) == ['a', 'b']\n",
    "def test_a(tmp_path):\n    assert set(os.listdir(tmp_path)) == {'a', 'b'}\n",
    "def test_a(tmp_path):\n    assert os.listdir(tmp_path) == ['a']\n",
    "def test_a(tmp_path):\n    names = os.listdir(tmp_path)\n    names.sort()\n    assert names == ['a', 'b']\n",
    "def test_a(tmp_path):\n    assert next(tmp_path.iterdir()).name == 'a'\n",
    "def test_a(tmp_path):\n    assert os.listdir(tmp_path)[-1] == 'a'\n",
    "def test_a(tmp_path):\n    for name in os.listdir(tmp_path):\n        assert name.isascii()\n",
    "def both(p):\n    return ''.join(sorted(map(str, p)))\ndef test_a():\n    assert both(Path().iterdir()) == 'ab'\n",
    "def test_a():\n    assert set('ab') == {'a', 'b'}\n    assert list(set([1, 2])) == [1, 2]\n",
    "def test_a():\n    clock = freeze_time('2026-01-01')\n    clock.start()\n    assert date.today() == date(2026, 1, 1)\n",
    "def test_a(tmp_path):\n    log('é')\n    assert (tmp_path / 'a').read_text() == '?'\n",
    "def test_a(tmp_path):\n    name = 'é'\n    with open(tmp_path / name, 'w'):\n        pass\n",
    # Nobody else is there.
    "def test_a():\n    s = socket.socket()\n    s.bind(('127.0.0.1', 0))\n",
    "def test_a():\n    assert str(Path('/tmp/x')) == '/tmp/x'\n",
    "def test_a(tmp_path):\n    with open('/tmp/x') as f:\n        f.read()\n",
    # It is put back.
    "def test_a(monkeypatch):\n    monkeypatch.setenv('MODE', 'x')\n",
    "def test_a():\n    try:\n        os.environ['MODE'] = 'x'\n    finally:\n        del os.environ['MODE']\n",
    "@pytest.fixture\ndef mode():\n    os.environ['MODE'] = 'x'\n    yield\n    del os.environ['MODE']\n",
    "def quiet_setup_module(module):\n    del os.environ['MODE']\n",
    "os.environ['MODE'] = 'x'\nprint(work())\n",
    "class A(TestCase):\n  def setUp(s):\n    s.addCleanup(os.environ.pop, 'A')\n  def test_a(s):\n    os.environ['A'] = 1\n",
    "def test_a():\n    fake = fake_socket()\n    fake.bind(('127.0.0.1', 3000))\n",
    "class TestA:\n    def test_a(self):\n        socks = [DummySock(on=(None, None))]\n        socks[0].bind(('', 8000))\n",
    "class StubServer:\n    def test_a(self):\n        self.socket.bind(('', 8000))\n",
    "def test_a():\n    with mock.patch('os.mkdir') as made:\n        os.mkdir('/tmp/mine')\n",
    "def test_a(fs):\n    os.mkdir('/tmp/mine')\n",
    "def test_a():\n    with pytest.raises(OSError):\n        os.mkdir('/tmp/mine/deep')\n",
    "@pytest.mark.usefixtures('save_env')\nclass TestA:\n    def test_a(self):\n        os.environ['MODE'] = 'x'\n",
    # Only where the file is run as a program.
    "if __name__ == '__main__':\n    os.environ['MODE'] = 'x'\n    print(time.strftime('%x'))\n",
]


@pytest.mark.parametrize(("kind", "body", "line"), FOUND)
def test_a_hazard_is_found_on_its_line(test_file: Callable[[str], list[str]], kind: str, body: str, line: int) -> None:
    assert test_file(HEAD + body) == [f"{START + line} {kind}"]


@pytest.mark.parametrize("body", HARMLESS)
def test_what_makes_no_difference_is_left_alone(test_file: Callable[[str], list[str]], body: str) -> None:
    assert test_file(HEAD + body) == []


PACKAGE_FOUND = [
    ("set-order", "def names(words):\n    return ', '.join(set(words))\n", 1),
    ("locale-encoding", "def menu(path):\n    return yaml.safe_load(open(path))\n", 1),
    ("locale-encoding", "def menu(config):\n    return Path(config).read_text()\n", 1),
    ("locale-format", "def amount(x):\n    return f'{x:n}'\n", 1),
    ("naive-clock", "def due(day):\n    return (day - date.today()).days\n", 1),
    ("naive-clock", "def due(day):\n    return datetime.now().hour or day\n", 1),
    ("naive-clock", "def due():\n    if datetime.now().hour < 12:\n        return 1\n", 1),
    ("naive-clock", "def due(day):\n    return day < datetime.now().date()\n", 1),
    ("naive-clock", "def due():\n    return (datetime.now() - timedelta(hours=5)).weekday() or None\n", 1),
    ("naive-clock", "def due():\n    return datetime.now().strftime('%H') == '09'\n", 1),
    ("naive-clock", "def due(menus):\n    return menus[datetime.now().strftime('%a')]\n", 1),
    ("naive-clock", "def due(text):\n    return datetime.fromisoformat(text) < datetime.now() - timedelta(days=1)\n", 1),
    ("naive-clock", "def due(text):\n    end = parsedate(text)\n    return end < datetime.now()\n", 2),
    ("local-time", "def early():\n    return time.localtime().tm_hour < 9\n", 1),
    ("local-time", "def apart(day):\n    return (day - datetime.fromtimestamp(0).date()).days\n", 1),
    (
        "naive-clock",
        "def today_menu(menus):\n    for day in menus:\n        if day == date.today():\n            break\n",
        2,
    ),
    ("locale-encoding", "def readConfig(path):\n    with open(path) as f:\n        return f.read()\n", 1),
    ("locale-encoding", "def load(self):\n    with open(self.log_config) as f:\n        return yaml.safe_load(f)\n", 1),
    ("local-time", "def made(stamp):\n    return datetime.fromtimestamp(stamp).date() == parse('2026-01-01')\n", 1),
    ("read-at-import", "def due(now=datetime.now(UTC)):\n    return now.year\n", 0),
    ("read-at-import", "LOCALE = locale.getlocale()\ndef due():\n    return LOCALE == 'C'\n", 0),
    ("locale-encoding", "def load_config(path):\n    with open(path) as f:\n        return f.read()\n", 1),
]
PACKAGE_HARMLESS = [
    "class Shop:\n    def __dir__(self):\n        return list(set(self.names))\n",
    "def due(now=None):\n    if now is None:\n        now = datetime.now()\n    return now + timedelta(days=1)\n",
    "def due(now=None):\n    now = now or datetime.now()\n    return now.year\n",
    "def main(begin, end):\n    today = date.today()\n    begin = begin or date(today.year - 2, 1, 1)\n    end = end or today\n",
    "def main(end):\n    today = date.today()\n    if end is None:\n        end = today + timedelta(days=1)\n    return end\n",
    "def main(parser):\n    parser.add_argument('--year', default=date.today().year)\n",
    "def due(settings):\n    return settings.get('now', datetime.now()).year\n",
    "def _now():\n    return datetime.now()\n",
    "def today_is_later_than(year):\n    today = date.today()\n    return today > date(year, 1, 1)\n",
    "def aware_now():\n    now = datetime.now()\n    return combine(now.date(), zone(now))\n",
    "def took():\n    start = datetime.now()\n    work()\n    return datetime.now() - start\n",
    "def shown(stamp):\n    return datetime.fromtimestamp(stamp).strftime('%H:%M:%S.%f')[:-3]\n",
    "def stamp(row):\n    row['made'] = datetime.now()\n",
    "class Local(tzinfo):\n    def utcoffset(self, dt):\n        return time.localtime(time.mktime(dt)).tm_hour\n",
    "STARTED = datetime.now(UTC)\n",
    "def alive(pidfile):\n    return int(open(pidfile).read())\n",
    "def quiet():\n    return open('/dev/null', 'w')\n",
    "def names(words):\n    return sorted(set(words))\n",
    "def numbers(lines):\n    return list({line for line in lines if line > 0})\n",
    "def sizes(words):\n    return list({len(word) for word in words})\n",
    "def due(day):\n    return day or datetime.now().date()\n",
    "TIPS = ['It is {} years old'.format(datetime.now().year - 2001)]\n",
    "def save_config(path, config):\n    with open(path, 'w') as f:\n        yaml.dump(config, f)\n",
    "def address(path):\n    with open(path) as f:\n        return json.load(f)\n",
    "def listed(path):\n    return os.listdir(path)\n",
    "def mode():\n    os.environ['MODE'] = 'x'\n",
    "def due(day):\n    return (day - date.today()).days  # noqa: DTZ011\n",
    "def due(now=datetime.now(UTC)):  # noqa: B008\n    return now.year\n",
]


@pytest.mark.parametrize(("kind", "body", "line"), PACKAGE_FOUND)
def test_a_package_is_read_as_well(project: Project, kind: str, body: str, line: int) -> None:
    project.write("shop/__init__.py")
    project.write("shop/rules.py", HEAD + body)
    assert project.found() == [f"{START + line} {kind}"]


@pytest.mark.parametrize("body", PACKAGE_HARMLESS)
def test_what_decides_nothing_in_a_package_is_left_alone(project: Project, body: str) -> None:
    project.write("shop/__init__.py")
    project.write("shop/rules.py", HEAD + body)
    assert project.found() == []


MAYBE = [
    # It goes there and back in one zone, waits with a limit of its own, or is taken away at the end.
    ("tests/test_a.py", "local-time", "def test_a():\n    assert label(time.mktime((2026, 1, 1))) == '2026-01-01'\n", 1),
    (
        "tests/test_a.py",
        "timed-assertion",
        "def test_a():\n    start = time.time()\n    assert time.time() - start < LIMIT / 2\n",
        2,
    ),
    (
        "tests/test_a.py",
        "timed-assertion",
        "def test_a():\n    start = time.time()\n    while busy():\n        assert time.time() - start < 5\n",
        3,
    ),
    ("tests/test_a.py", "variable-write", "def test_a():\n    os.environ['A'] = 'x'\n    del os.environ['A']\n", 1),
    (
        "tests/test_a.py",
        "variable-write",
        "def test_a():\n    old = os.getenv('A')\n    os.environ['A'] = 'x'\n    os.environ['A'] = old\n",
        2,
    ),
    # It is the same each time: what nobody has set, what another variable holds, what the tested package wants from the start.
    ("tests/test_a.py", "variable-write", "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop')\ndef test_a(): ...\n", 0),
    ("tests/test_a.py", "variable-write", "os.environ['AWS_SECRET_ACCESS_KEY'] = 'none'\ndef test_a(): ...\n", 0),
    (
        "tests/test_a.py",
        "variable-write",
        "class TestA:\n    def run(self):\n        if 'RC' in os.environ:\n            os.environ['START'] = os.environ['RC']\n",
        3,
    ),
    # The limit is there against hanging.
    (
        "tests/test_a.py",
        "timed-assertion",
        "def test_a():\n    p = pipe(timeout=0.2)\n    a = time.time()\n    p.read()\n    assert 0.1 < time.time() - a < 5.0\n",
        4,
    ),
    (
        "tests/test_a.py",
        "timed-assertion",
        "def test_a():\n    start = time.perf_counter()\n    parse('x' * 1000)\n    assert time.perf_counter() - start < 5\n",
        3,
    ),
    (
        "tests/test_a.py",
        "timed-assertion",
        "def test_a():\n    a = time.time()\n    wait(30)\n    assert time.time() - a < 29\n",
        3,
    ),
    # What is expected is made in the same locale, or the test has set it itself.
    (
        "tests/test_a.py",
        "locale-format",
        "def test_a(day):\n    expected = day.strftime('%c')\n    assert shown(day) == expected\n",
        1,
    ),
    ("tests/test_a.py", "locale-format", "def local(day):\n    return day.astimezone().strftime('%c')\n", 1),
    (
        "tests/test_a.py",
        "locale-format",
        "def test_a(day):\n    locale.setlocale(locale.LC_ALL, 'C')\n    assert day.strftime('%x') == '01/01/26'\n",
        2,
    ),
    (
        "tests/test_a.py",
        "locale-order",
        "def test_a(words):\n    assert ordered(words) == sorted(words, key=locale.strxfrm)\n",
        1,
    ),
    # There and back in the locale's encoding.
    (
        "tests/test_a.py",
        "locale-encoding",
        "def test_a(a):\n    with open(a, 'w') as f:\n        f.write('é')\n    assert a.read_text() == '?'\n",
        1,
    ),
    # Mere bounds of what is drawn.
    (
        "tests/strategies.py",
        "read-at-import",
        "def times(draw, at=drawn(max_value=datetime(datetime.now(UTC).year, 1, 1))):\n    return draw(at)\n",
        0,
    ),
    # Some moment, handed in and given back; a queue that is bound; a port that nobody may have.
    ("tests/test_a.py", "read-at-import", "NOW = datetime.now()\ndef test_a():\n    assert year(NOW) == NOW.year\n", 0),
    ("tests/test_a.py", "fixed-port", "def test_a(queue):\n    queue.bind(('orders', 8000))\n", 1),
    ("tests/test_a.py", "fixed-port", "def test_a():\n    s = socket.socket()\n    s.bind(('', 80))\n", 2),
    # A bound that is far away, read once; what a compiler has written.
    ("shop/rules.py", "naive-clock", "LAST = date.today() + timedelta(days=36500)\ndef due(day):\n    return day < LAST\n", 0),
    (
        "shop/rules.py",
        "locale-encoding",
        "def read_sysconfig_data(name):\n    with open(name) as f:\n        return f.read()\n",
        1,
    ),
    # A year, or a day that something is made of, and the day of a stamp that is told as people tell it.
    ("shop/rules.py", "naive-clock", "def due():\n    now = datetime.now()\n    return make(now.year, now.month)\n", 1),
    ("shop/rules.py", "naive-clock", "def due(days):\n    return datetime.now().date() + timedelta(days=days)\n", 1),
    (
        "shop/rules.py",
        "naive-clock",
        "def due(end):\n    today = date.today()\n    end = end or today\n    return today.year\n",
        1,
    ),
    ("shop/rules.py", "naive-clock", "def born(days):\n    age = timedelta(days=days)\n    return date.today() - age\n", 2),
    ("shop/rules.py", "local-time", "def pivot():\n    return time.localtime().tm_year\n", 1),
    (
        "shop/rules.py",
        "naive-clock",
        "def said(stamp):\n    at = datetime.fromtimestamp(stamp)  # noqa\n    return int(at.date() == date.today())\n",
        2,
    ),
    # Its own stamp as text; a page that it writes itself.
    (
        "shop/rules.py",
        "naive-clock",
        "def late(a):\n    n = datetime.now()\n    a.append(n.isoformat())\n    return n < datetime.fromisoformat(a[0])\n",
        1,
    ),
    (
        "shop/rules.py",
        "locale-encoding",
        "def look(self):\n    with tempfile.NamedTemporaryFile('w', suffix='.html') as f:\n        f.write(self.html())\n",
        1,
    ),
    # Its own stamp, there and back by one zone, against a span; its own log; a moment that is only shown.
    (
        "shop/rules.py",
        "local-time",
        "def old(self):\n    if datetime.fromtimestamp(self['made']) < datetime.now() - INTERVAL:\n        self.update()\n",
        1,
    ),
    (
        "shop/rules.py",
        "locale-encoding",
        "def log_tail(config):\n    with open(config.LOG_FILE) as f:\n        return tail(f)\n",
        1,
    ),
    ("shop/rules.py", "naive-clock", "def rights():\n    year = date.today().year\n    return f'(c) {year}'\n", 1),
    # What it is compared with may come in the same order, and the other letters may go elsewhere.
    ("tests/test_a.py", "folder-order", "def test_a(said):\n    names = os.listdir('.')\n    assert said == f'{names[1]}'\n", 1),
    ("tests/test_a.py", "locale-encoding", "def test_a(a):\n    a.write_text(made())\n    assert said() == 'é'\n", 1),
    ("tests/test_a.py", "locale-encoding", "def test_a(a):\n    said = a.read_text()\n    assert 'é' in all_of(said)\n", 1),
    ("shop/rules.py", "naive-clock", "def rights():\n    return str(date.today().year)\n", 1),
    # A call makes something of the moment: whether it tells of the zone, the source does not say.
    ("tests/test_a.py", "naive-clock", "def test_a():\n    assert label(date.today()) == 'today'\n", 1),
    ("tests/test_a.py", "naive-clock", "def test_a():\n    said = label(datetime.now())\n    assert said == 'now'\n", 1),
    # A program's own moments, all of them naive: a span or an age of them.
    ("shop/rules.py", "naive-clock", "def due():\n    now = datetime.now()\n    return now + timedelta(days=1)\n", 1),
    ("shop/rules.py", "naive-clock", "def old(row):\n    return row.made < datetime.now() - timedelta(days=30)\n", 1),
    ("shop/rules.py", "naive-clock", "def old(row):\n    return row.until < datetime.now()\n", 1),
    ("shop/rules.py", "naive-clock", "def age(row):\n    return datetime.now().year - row.year\n", 1),
    ("shop/rules.py", "naive-clock", "def new(day):\n    return day > datetime.now().date() - timedelta(days=7)\n", 1),
    ("shop/rules.py", "naive-clock", "def age(day):\n    return (date.today() - day).days / 365\n", 1),
    # What is tested is given the moment, has written the file that is read back, or is not what the script is for.
    (
        "tests/test_a.py",
        "clock-in-assertion",
        "def test_a(job):\n    last = job.next = time.time() - 1\n    job.run()\n    assert job.next == last + 5\n",
        1,
    ),
    (
        "tests/test_a.py",
        "locale-encoding",
        "def test_a(tmp_path):\n    save('é', tmp_path / 'a')\n    assert (tmp_path / 'a').read_text() == 'é'\n",
        2,
    ),
    ("tests/helpers.py", "fixed-port", "def test_server():\n    socket.socket().bind(('', 8123))\n", 1),
    # It only stands in for what something else did not say.
    (
        "shop/rules.py",
        "read-at-import",
        "CODE = code_of(1)\nif not CODE:\n    CODE = locale.getlocale()\ndef due():\n    return CODE == 'C'\n",
        2,
    ),
    # Nobody may ever have set it.
    ("tests/test_a.py", "variable-write", "def test_a():\n    del os.environ['MODE']\n", 1),
    ("tests/test_a.py", "variable-write", "def test_a():\n    os.environ.pop('MODE', None)\n", 1),
    # Helpers beside the tests.
    ("tests/helpers.py", "fixed-temporary-path", "def dump():\n    Path('/tmp/mine').mkdir()\n", 1),
    ("tests/helpers.py", "locale-encoding", "def dump(path):\n    print('é')\n    path.write_text(made())\n", 2),
    # A package may write ASCII alone, read its own file, mean the locale, or hand on a bag.
    (
        "shop/rules.py",
        "locale-encoding",
        "def save_config(path, config):\n    with open(path, 'w') as f:\n        yaml.dump(config, f, allow_unicode=True)\n",
        1,
    ),
    (
        "shop/rules.py",
        "locale-encoding",
        "def menu():\n    place = Path(__file__).parent\n    return yaml.load(open(place))\n",
        2,
    ),
    ("shop/rules.py", "locale-encoding", "def config():\n    return parse(open('/etc/shop.ini'))\n", 1),
    ("shop/rules.py", "locale-encoding", "def config(path):\n    open(path)\n", 1),
    ("shop/rules.py", "locale-encoding", "def config(path):\n    return json.load(open(path)), yaml\n", 1),
    ("shop/rules.py", "locale-encoding", "def message(path):\n    return open(path).read()\n", 1),
    ("shop/rules.py", "locale-format", "def said(day):\n    return day.strftime('%x')\n", 1),
    ("shop/rules.py", "locale-order", "def said(words):\n    return sorted(words, key=locale.strxfrm)\n", 1),
    ("shop/rules.py", "set-order", "def names(words):\n    return list(set(words))\n", 1),
    ("shop/rules.py", "set-order", "def rights(words):\n    return ''.join(set(words))\n", 1),
]


@pytest.mark.parametrize(("path", "kind", "body", "line"), MAYBE)
def test_what_takes_somebody_who_knows_the_project_is_said_when_asked_for(
    project: Project, path: str, kind: str, body: str, line: int
) -> None:
    project.write("shop/__init__.py")
    project.write(path, HEAD + body)
    assert project.found() == []
    assert project.found("--all") == [f"{START + line} {kind}"]
    assert [each.sure for each in project.document("--all").hazards] == [False]


def test_a_conftest_that_keeps_the_variables_of_all_tests_makes_writes_harmless(project: Project) -> None:
    project.write("tests/test_a.py", "import os\ndef test_a():\n    os.environ['MODE'] = 'x'\n")
    assert project.found() == ["3 variable-write"]
    project.write("conftest.py", "@pytest.fixture(autouse=True)\ndef clean(monkeypatch):\n    monkeypatch.delenv('MODE')\n")
    assert project.found() == []


READS = "from pathlib import Path\nHERE = Path(__file__).parent\n\ndef test_a():\n    assert (HERE / 'data' / '{}').read_text()\n"


def test_a_file_in_another_case_is_named_as_git_has_it(project: Project) -> None:
    project.write("tests/data/header.txt", "x")
    project.write("tests/test_a.py", READS.format("Header.txt"))
    project.commit()
    hazards = project.document().hazards
    assert [(each.line, each.kind, each.what) for each in hazards] == [
        (5, "name-case", "`tests/data/Header.txt` is `tests/data/header.txt` in git")
    ]


@pytest.mark.parametrize("how", ["untracked", "ignored"])
def test_a_file_that_git_does_not_have_is_named(project: Project, how: str) -> None:
    project.write("tests/test_a.py", READS.format("rates.json"))
    project.write(".gitignore", "*.json\n" if how == "ignored" else "")
    project.commit()
    project.write("tests/data/rates.json", "x")
    assert [each.what for each in project.document().hazards] == [f"`tests/data/rates.json` is {how}"]
    project.git("add", "--force", "tests/data/rates.json")
    assert project.found() == []


def test_a_file_that_the_test_makes_itself_is_not_missed(project: Project) -> None:
    project.write("tests/test_a.py", READS.format("made.txt") + "    (HERE / 'data' / 'made.txt').write_text('x')\n")
    project.commit()
    project.write("tests/data/made.txt", "x")
    assert project.found() == []


@pytest.mark.parametrize(("asked", "found"), [("assert {}.exists()", 1), ("assert not {}.exists()", 0), ("{}.exists()", 0)])
def test_that_a_file_is_there_is_asked_of_its_name_too(project: Project, asked: str, found: int) -> None:
    project.write("tests/menu.txt", "x")
    body = f"from pathlib import Path\nHERE = Path(__file__).parent\ndef test_a():\n    {asked}\n"
    project.write("tests/test_a.py", body.replace("{}", "(HERE / 'Menu.txt')"))
    project.commit()
    assert len(project.found()) == found


def test_a_name_in_a_temporary_folder_is_nothing_to_git(project: Project) -> None:
    project.write("README.md", "x")
    body = "import os\ndef test_a(tmp_path, monkeypatch):\n    monkeypatch.chdir(tmp_path)\n    assert open('readme.md').read()\n"
    project.write("tests/test_a.py", body)
    project.commit()
    assert project.found() == []


def test_an_import_that_only_the_disk_spells_so_is_named(project: Project) -> None:
    project.write("shop/__init__.py")
    project.write("shop/models.py", "x = 1\n")
    project.write("tests/test_a.py", "from shop.Models import x\n\n\ndef test_a():\n    assert x\n")
    project.commit()
    assert project.found() == []  # it fails everywhere
    (project.path / "shop" / "models.py").rename(project.path / "shop" / "Models.py")
    hazards = project.document().hazards
    assert [(each.line, each.what) for each in hazards] == [(1, "`shop.Models` is `shop.models` in git")]


def test_a_tracked_file_with_other_letters_needs_an_encoding(project: Project) -> None:
    project.write("tests/data/menu.txt", "crêpes")
    project.write("tests/data/plain.txt", "pancakes")
    body = "def test_a():\n    with open('tests/data/plain.txt') as f:\n        assert f.read()\n"
    project.write("tests/test_a.py", body)
    project.commit()
    assert project.found() == []
    project.write("tests/test_a.py", body.replace("plain", "menu"))
    assert project.found() == ["2 locale-encoding"]
    project.write("tests/other/menu.txt", "pancakes")  # which of the two is meant, nobody can tell
    project.commit()
    assert project.found() == []


def test_a_file_beside_the_code_needs_no_encoding_while_it_is_all_ascii(project: Project) -> None:
    body = "import os\nconfig = os.path.join(os.path.dirname(__file__), 'shop.yaml')\nwith open(config) as f:\n    menu = f\n"
    project.write("shop/__init__.py", body)
    project.write("shop/shop.yaml", "pancakes: 1")
    project.commit()
    assert project.found() == []
    project.write("shop/shop.yaml", "crêpes: 1")
    assert project.found() == ["3 locale-encoding"]

"""What a file may see, told by its text: whatever an import names is found, and no text is too odd to be read."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from paritygate.changed import facts, mapping
from paritygate.changed.facts import Facts
from paritygate.changed.graph import Graph
from paritygate.changed.mapping import Surroundings

PATH = "pkg/deep/part/test_it.py"
WORDS = ("alpha", "beta_", "_gamma", "größe", "имя", "x1")
FRAMES = (
    "{}",
    "if x:\n    pass\nelse:\n    {}",
    "try:\n    {}\nexcept ImportError:\n    pass",
    "try:\n    pass\nfinally:\n    {}",
    "def f(a=1):\n    def g():\n        {}",
    "async def f():\n    async with x:\n        {}",
    "class C:\n    class D:\n        {}",
    "match x:\n    case [y]:\n        {}",
    "for x in y:\n    while x:\n        {}",
    "'''text'''\nwith x as y:\n    z = 1; {}",
)
HOSTILE = (
    *(
        "import a\0b",
        "(" * 5000,
        "-" * 50000 + "1",
        "a" + ".b" * 5000,
        "1" + "+1" * 9000,
        "f(" * 90 + ")" * 90,
        "x = " + "9" * 5000,
    ),
    *(
        "# coding: hex\nimport a",
        "# coding: none-such\n",
        "# coding: utf-7\nimport +AG",
        "'\\N{none}'",
        "'\\ud800'",
        "\x0cimport a\r\r",
    ),
    *(
        "from .......... import a",
        "from . import *",
        "import a as a.b",
        "import_module()",
        "import_module('..a', 'b')",
        "f'{a!r:{b}}'",
    ),
    *(
        "pytest_plugins: list",
        "pytest_plugins += x",
        "pytest_plugins = [1, b'\\xff']",
        "def __getattr__(): '.'",
        "'...:'",
        "import a." * 9,
    ),
)


class Written(msgspec.Struct, frozen=True):
    """A statement, with the modules that it names, and the places."""

    text: str
    modules: frozenset[str] = frozenset()
    near: frozenset[str] = frozenset()


words = st.sampled_from(WORDS)
dotted = st.lists(words, min_size=1, max_size=3).map(".".join)


@st.composite
def statements(draw: st.DrawFn) -> Written:
    """Write one import in one of the ways that there are."""
    module, name, other, level = draw(dotted), draw(words), draw(words), draw(st.integers(1, 3))
    folder = "/".join(PATH.split("/")[:-level])
    place = f"{folder}/{module.replace('.', '/')}"
    ways = (
        Written(f"import {module}", frozenset({module})),
        Written(f"import {other}, {module} as {name}", frozenset({module, other})),
        Written(f"import {module} as {name}; {name}.{other}.x", frozenset({module, f"{module}.{other}.x"})),
        Written(f"from {module} import {name}", frozenset({module, f"{module}.{name}"})),
        Written(f"from {module} import (\n{other} as o,\n{name} as n)", frozenset({f"{module}.{name}", f"{module}.{other}"})),
        Written(f"from {module} import *", frozenset({module})),
        Written(f"from {'.' * level}{module} import {name} as x", near=frozenset({place, f"{place}/{name}"})),
        Written(f"from {'.' * level} import {name}", near=frozenset({f"{folder}/{name}"})),
        Written(f"importlib.import_module({module!r})", frozenset({module})),
        Written(f"import_module('.{name}', {module!r})", frozenset({f"{module}.{name}"})),
        Written(f"x = __import__({module!r}).y", frozenset({module})),
        Written(f"x = pytest.importorskip({module!r}, '1.0', reason='r')", frozenset({module})),
        Written(f"pytest_plugins = ('p', {module!r})", frozenset({module, "p"})),
        Written(f"pytest_plugins += [{module!r}]", frozenset({module})),
        Written(f"INSTALLED_APPS: list[str] = [{module!r}]", frozenset({module})),
        Written(f"mocker.patch('{module}.{name}', 1)", frozenset({f"{module}.{name}"})),
        Written(f"x = '{module}.{name}:run'", frozenset({f"{module}.{name}.run"})),
    )
    return draw(st.sampled_from(ways))


@st.composite
def sources(draw: st.DrawFn) -> tuple[bytes, tuple[Written, ...]]:
    """Put imports into frames, and the whole into bytes as files have them."""
    made = tuple(draw(st.lists(statements(), min_size=1, max_size=5)))
    text = "\n".join(draw(st.sampled_from(FRAMES)).format(each.text) for each in made) + "\n"
    way = draw(st.sampled_from(("utf-8", "utf-8-sig", "cp1251", "crlf")))
    if way == "crlf":
        return text.replace("\n", "\r\n").encode(), made
    return f"# -*- coding: {way} -*-\n{text.replace('größe', 'grosse')}".encode(way), tuple(map(_in_cyrillic, made))


def _in_cyrillic(each: Written) -> Written:
    """Write the one word that not every encoding has otherwise."""
    modules = frozenset(name.replace("größe", "grosse") for name in each.modules)
    return Written(each.text, modules, frozenset(name.replace("größe", "grosse") for name in each.near))


@settings(max_examples=300, deadline=None)
@given(sources())
def test_what_an_import_names_is_found(source: tuple[bytes, tuple[Written, ...]]) -> None:
    content, written = source
    found = facts.read(PATH, content, test_side=True)
    assert found.opaque == ""
    assert found.modules >= frozenset().union(*(each.modules for each in written))
    assert found.near >= frozenset().union(*(each.near for each in written))


@pytest.mark.parametrize(
    "text",
    [
        "import_module(name)",
        "importlib.import_module(name='a')",
        "import_module('.a', package)",
        "import_module('..a', 'b.c')",
        "import_module(f'a.{x}')",
        "list(map(importlib.import_module, names))",
        "from importlib import import_module as load\nload('a')",
        "load = __import__",
        "runpy.run_path('a.py', *more)",
        "entry_points(group='a')",
        "import lazy_loader",
        "from apipkg import initpkg",
    ],
)
def test_what_is_made_while_it_runs_is_said(text: str) -> None:
    assert facts.read("a.py", text.encode(), test_side=False).opaque != ""


@pytest.mark.parametrize(
    ("text", "on_the_test_side", "elsewhere"),
    [
        ("import subprocess", "it starts processes", ""),
        ("os.spawnlp(x)", "it starts processes", ""),
        ("def test(script_runner): pass", "it starts processes", ""),
        ("subprocess.run(['python3', x])", "it starts processes", "it starts processes"),
        ("subprocess.run([sys.executable])", "it starts processes", "it starts processes"),
        ("exec(text)", "it runs text as code", ""),
        ("re.compile(x)", "", ""),
    ],
)
def test_a_process_may_be_the_projects_own_where_tests_start_it(text: str, on_the_test_side: str, elsewhere: str) -> None:
    found = [facts.read("a.py", text.encode(), test_side=side).opaque for side in (True, False)]
    assert found == [on_the_test_side, elsewhere]


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.sampled_from(HOSTILE), st.text()).map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary())
@example(b"\xef\xbb\xbf# coding: latin-1\nimport a")
def test_no_file_is_too_odd_to_be_read(content: bytes) -> None:
    found = facts.read("a/b.py", content, test_side=True)
    assert facts.together(found, Facts()) == found
    assert {*Graph({"a/b.py": found}, ("c.py",), {"a/b.py"}, loose=True).seeing({"a/b.py"})} == {"a/b.py"}


@settings(deadline=None)
@given(st.text(alphabet="[]!-*?\\/.ab^", max_size=12), st.sampled_from(["data/[a].b", "a/b.json", "ab.py", "a\udcff.b"]))
def test_no_text_is_too_odd_to_be_a_name_or_a_pattern(text: str, path: str) -> None:
    files: Mapping[str, Facts] = {"tests/test_z.py": Facts(texts=frozenset({text}), modules=frozenset({text}))}
    graph = Graph(files, (path,), {"tests/test_z.py"}, loose=False)
    around = Surroundings(files=frozenset({*files, path}), links={}, directory="", graph=graph)
    assert mapping.seen(path, around).tests <= {"tests/test_z.py"}


@settings(deadline=None)
@given(st.lists(words, min_size=1, max_size=4), st.data())
def test_a_module_is_meant_by_every_name_that_a_folder_gives_it(parts: list[str], data: st.DataObject) -> None:
    last = data.draw(st.sampled_from((".py", "/__init__.py")))
    path = "/".join(parts) + last
    start = data.draw(st.integers(0, len(parts) - 1))
    graph = Graph({path: Facts()}, (), (), loose=data.draw(st.booleans()))
    assert path in set(graph.meant(".".join(parts[start:])))
    assert path in set(graph.meant(".".join((*parts[start:], "Thing", "method"))))


def test_what_is_reached_by_attributes_of_another_name_is_found() -> None:
    found = facts.read(
        "a.py", b"from shop import stock as s\nfrom shop import units\ns.boxes.count\nunits.BOX\n", test_side=False
    )
    assert found.modules == {"shop", "shop.stock", "shop.units", "shop.stock.boxes.count", "shop.units.BOX"}


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("def __getattr__(name): return load('core')", {"pkg/core"}),
        ("def __getattr__(name): return load('.core:thing')", {"pkg/core"}),
        ("def other(name): return load('..core')", {"core"}),
        ("def other(name): return load('core')", set()),
    ],
)
def test_names_in_texts_mean_places_beside_a_file(text: str, near: set[str]) -> None:
    assert facts.read("pkg/__init__.py", text.encode(), test_side=False).near == near


def test_two_versions_of_a_file_see_what_either_sees() -> None:
    texts = (
        b"from . import a\nimport b\nos.listdir('c')\ndef d(): pass\n",
        b"from . import e\nimport f\nexec('g')\nclass H: pass\n",
    )
    one, other = (facts.read("pkg/x.py", text, test_side=True) for text in texts)
    assert facts.together(one, other) == Facts(
        modules=frozenset({"b", "f"}),
        near=frozenset({"pkg", "pkg/a", "pkg/e"}),
        texts=frozenset({"c", "g"}),
        defined=frozenset({"d", "H"}),
        lists=True,
        opaque="it runs text as code",
    )
    assert facts.together(other, one) == facts.together(one, other)

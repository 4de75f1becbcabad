"""Who imports whom, by names alone: which of the files that a name could mean are taken."""

from __future__ import annotations

import pytest

from paritygate.changed.facts import Facts
from paritygate.changed.graph import Graph


def a_graph(*names: str, loose: bool = False, **facts: Facts) -> Graph:
    return Graph(dict.fromkeys(names, Facts()) | {f"{name}.py": each for name, each in facts.items()}, (), (), loose=loose)


def test_a_package_runs_before_what_is_in_it() -> None:
    graph = a_graph("deep/__init__.py", "deep/low/__init__.py", "deep/low/it.py", x=Facts(near=frozenset({"deep/low/it"})))
    assert graph.seeing({"deep/__init__.py"}) >= {"deep/low/__init__.py", "deep/low/it.py", "x.py"}
    assert "x.py" in graph.seeing({"deep/low/__init__.py"})


@pytest.mark.parametrize(
    ("name", "meant", "loosely"),
    [
        ("rates", {"shop/rates.py"}, {"shop/rates.py"}),
        ("stock", {"stock.py"}, {"stock.py", "shop/stock.py"}),
        ("json", set(), {"shop/json.py"}),
        ("shop.json", {"shop/__init__.py", "shop/json.py"}, {"shop/__init__.py", "shop/json.py"}),
    ],
)
def test_a_module_of_a_package_has_a_short_name_where_nothing_else_has_it(name: str, meant: set[str], loosely: set[str]) -> None:
    files = ("shop/__init__.py", "shop/rates.py", "shop/stock.py", "shop/json.py", "stock.py")
    assert set(a_graph(*files).meant(name)) == meant
    assert set(a_graph(*files, loose=True).meant(name)) == loosely

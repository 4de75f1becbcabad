"""Collects one test for each line of a `.case` file: a name, and what to evaluate."""

from datetime import datetime

import pytest


class Case(pytest.Item):
    def __init__(self, *, expression, **kwargs):
        super().__init__(**kwargs)
        self.expression = expression

    def runtest(self):
        assert eval(self.expression, {"utc": not datetime.now().astimezone().utcoffset()}), self.expression

    def reportinfo(self):
        return self.path, None, self.name


class CaseFile(pytest.File):
    def collect(self):
        for line in self.path.read_text(encoding="utf-8").splitlines():
            name, _, expression = line.partition(": ")
            yield Case.from_parent(self, name=name, expression=expression)


def pytest_collect_file(file_path, parent):
    if file_path.suffix == ".case":
        return CaseFile.from_parent(parent, path=file_path)
    return None

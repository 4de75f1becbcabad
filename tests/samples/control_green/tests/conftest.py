import pytest


@pytest.fixture(scope="session")
def catalogue(tmp_path_factory):
    path = tmp_path_factory.mktemp("shop") / "catalogue.txt"
    path.write_text("tea\nmilk\n", encoding="utf-8")
    return path


@pytest.fixture
def basket():
    content = []
    yield content
    content.clear()

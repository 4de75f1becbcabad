"""The gate in a container itself, with the engine's socket mounted: its cells run beside it, and see none of its paths."""

from __future__ import annotations

import importlib.metadata
import io
import re
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import Distribution
from pathlib import Path

import msgspec
import pytest
from docker import APIClient
from packaging.requirements import Requirement

import paritygate
from paritygate.docker_engine.engine import DockerEngine
from paritygate.docker_engine.requests import OWNER_LABEL
from paritygate.outcomes.artifact import Artifact

pytestmark = pytest.mark.docker

SOCKET = "/var/run/docker.sock"
PATIENCE_SECONDS = 300
TEST = """\
import shop

def test_the_tree_is_there():
    assert shop.PRICES.read_text() == "tea 3\\n"
"""
FILES = {
    "shop.py": "from pathlib import Path\n\nPRICES = Path(__file__).with_name('prices.txt')\n",
    "prices.txt": "tea 3\n",
    "test_shop.py": TEST,
}
COMMIT = "git init -q && git add . && git -c user.name=A -c user.email=a@example.org commit -qm All"
GATE = "python3 -m paritygate run --env local-like --attempts 1 --without-axis case_sensitive"


def needed(name: str, found: dict[str, Distribution]) -> dict[str, Distribution]:
    """Gather a distribution and all that it requires."""
    key = re.sub(r"[-_.]+", "-", name).lower()
    if key not in found:
        found[key] = importlib.metadata.distribution(name)
        for text in found[key].requires or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                needed(requirement.name, found)
    return found


def packed() -> bytes:
    """Pack paritygate as it lies here, what it requires, and a project."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for each in needed("paritygate", {}).values():
            for file in each.files or ():
                if ".." not in file.parts and file.suffix != ".pyc" and Path(str(file.locate())).is_file():
                    tar.add(str(file.locate()), f"opt/gate/{file}")
        source = Path(paritygate.__file__).parent
        tar.add(source, "opt/gate/paritygate", filter=lambda entry: None if "__pycache__" in entry.name else entry)
        for name, content in FILES.items():
            entry = tarfile.TarInfo(f"project/{name}")
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content.encode()))
    return stream.getvalue()


@contextmanager
def beside(engine: DockerEngine, base: str, script: str) -> Iterator[tuple[APIClient, str]]:
    """Have a container with the engine's own socket and nothing else of its computer, which has not started."""
    client = APIClient(base_url=engine.info.endpoint.url, version="auto", timeout=PATIENCE_SECONDS)
    own = engine.info.endpoint.url.removeprefix("unix://")
    container = client.create_container(
        base,
        ["sh", "-c", script],
        environment={"PYTHONPATH": "/opt/gate"},
        working_dir="/project",
        host_config=client.create_host_config(binds={own: {"bind": SOCKET, "mode": "rw"}}),
    )["Id"]
    try:
        yield client, container
    finally:
        client.remove_container(container, force=True)
        client.close()


def test_a_gate_in_a_container_has_its_cells_beside_it(engine: DockerEngine, base: str) -> None:
    with beside(engine, base, f"{COMMIT} && {GATE}") as (client, container):
        client.put_archive(container, "/", packed())
        client.start(container)
        status = client.wait(container)["StatusCode"]
        shown = client.logs(container, stdout=True, stderr=True).decode()
        assert status == 0, shown
        assert f"at unix://{SOCKET}" in shown
        pieces, _ = client.get_archive(container, "/project/parity_report.json")
        hostname = client.inspect_container(container)["Config"]["Hostname"]
        left = [each["Labels"][OWNER_LABEL] for each in client.containers(all=True, filters={"label": OWNER_LABEL})]
    with tarfile.open(fileobj=io.BytesIO(b"".join(pieces))) as tar:
        member = tar.extractfile("parity_report.json")
        assert member is not None
        artifact = msgspec.json.decode(member.read(), type=Artifact)
    assert artifact.verdict.line == "stable in local-like (one environment, nothing compared)"
    assert artifact.subject.commit
    assert not [owner for owner in left if hostname in owner]

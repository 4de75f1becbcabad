"""What answers at an endpoint may be too old, too new, or no engine at all."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from docker.constants import DEFAULT_DOCKER_API_VERSION

from paritygate.docker_engine.connect import connect
from paritygate.docker_engine.endpoints import EndpointSearch
from paritygate.errors import EngineError, EngineUnavailableError

DOCKER = {"Version": "27.1", "ApiVersion": "1.46", "MinAPIVersion": "1.24", "Os": "linux", "Arch": "arm64"}
INFO = {"NCPU": 3, "MemTotal": 1024, "SecurityOptions": ["name=seccomp,profile=builtin", "name=rootless"]}


@contextlib.contextmanager
def answering(version: Any) -> Iterator[tuple[int, list[str]]]:
    """Answer on a port as an engine of that version does, and note what is asked."""
    asked: list[str] = []

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            said = version if self.path == "/version" else INFO
            content = said if isinstance(said, bytes) else json.dumps(said).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_arguments: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_address[1], asked
        finally:
            server.shutdown()
            thread.join()


def a_search(port: int, home: Path) -> EndpointSearch:
    return EndpointSearch(environment={"DOCKER_HOST": f"tcp://127.0.0.1:{port}"}, home=home)


def test_an_engine_that_is_too_old_is_refused_with_its_version_and_what_would_do(tmp_path: Path) -> None:
    with answering({**DOCKER, "Version": "17.3", "ApiVersion": "1.27"}) as (port, _), pytest.raises(EngineError) as caught:
        connect(a_search(port, tmp_path))
    assert caught.value.message == (f"the engine at `tcp://127.0.0.1:{port}` (version 17.3) speaks API 1.27, older than 1.41")
    assert caught.value.hint == "update it: Docker 20.10 and Podman 4 are recent enough"


@pytest.mark.parametrize(
    ("offered", "least", "spoken"),
    [("1.41", "1.12", "1.41"), ("1.90", "1.24", DEFAULT_DOCKER_API_VERSION), ("1.90", "1.89", "1.90")],
    ids=["an old one's own", "the library's own where the engine is newer", "the engine's where it refuses the library's"],
)
def test_the_version_spoken_is_one_that_both_sides_know(offered: str, least: str, spoken: str, tmp_path: Path) -> None:
    with answering({**DOCKER, "ApiVersion": offered, "MinAPIVersion": least}) as (port, asked):
        engine = connect(a_search(port, tmp_path))
        engine.close()
    assert asked == ["/version", f"/v{spoken}/info"]
    assert engine.info.api == offered


def test_podman_and_rootless_are_recognised(tmp_path: Path) -> None:
    with answering({**DOCKER, "Components": [{"Name": "Podman Engine", "Version": "5"}]}) as (port, _):
        engine = connect(a_search(port, tmp_path))
        engine.close()
    info = engine.info
    assert (info.name, info.rootless, info.platform, info.cpus, info.memory) == ("Podman", True, "linux/arm64", 3, 1024)


@pytest.mark.parametrize("answer", [b"<html>hello</html>", ["not", "an", "object"]], ids=["a web page", "a list"])
def test_what_is_no_engine_is_said_to_be_none(answer: Any, tmp_path: Path) -> None:
    with answering(answer) as (port, _), pytest.raises((EngineError, EngineUnavailableError)) as caught:
        connect(a_search(port, tmp_path))
    assert f"tcp://127.0.0.1:{port}" in caught.value.message

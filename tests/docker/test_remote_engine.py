"""An engine behind a port, plain and with TLS, and connections that break."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from paritygate.docker_engine.connect import connect
from paritygate.docker_engine.endpoints import EndpointSearch
from paritygate.docker_engine.engine import DockerEngine
from paritygate.errors import EngineError, EngineUnavailableError
from tests.support.engine_contract import a_request, output
from tests.support.relay import Relay, certificates, relayed

pytestmark = pytest.mark.docker


@pytest.fixture
def socket_path(engine: DockerEngine) -> str:
    return engine.info.endpoint.url.removeprefix("unix://")


@pytest.fixture
def relay(socket_path: str) -> Iterator[Relay]:
    with relayed(socket_path) as relay:
        yield relay


def over(relay: Relay, home: Path, **variables: str) -> DockerEngine:
    return connect(EndpointSearch(environment={"DOCKER_HOST": f"tcp://127.0.0.1:{relay.port}", **variables}, home=home))


def talk(engine: DockerEngine, base: str) -> None:
    with engine.container(a_request(base, "cat", stdin=True)) as container:
        streams = container.attach()
        container.start()
        frames = streams.frames()
        streams.write(b"there and back\n")
        assert next(frames) == (1, b"there and back\n")
        timer = threading.Timer(0.2, streams.close)
        timer.start()
        assert list(frames) == []
        timer.join()
        end = container.wait(30)
    assert end is not None
    assert end.exit_code == 0


def test_streams_work_over_a_port(relay: Relay, base: str, tmp_path: Path) -> None:
    engine = over(relay, tmp_path)
    talk(engine, base)
    engine.close()


def test_streams_work_over_tls(socket_path: str, base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Variables that are meant for the web must not reach the engine's connection.
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "none.pem"))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    with relayed(socket_path, certificates(tmp_path)) as relay:
        engine = over(relay, tmp_path, DOCKER_TLS_VERIFY="1", DOCKER_CERT_PATH=str(tmp_path))
        talk(engine, base)
        engine.close()


def test_an_engine_that_cannot_prove_itself_is_refused(socket_path: str, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    certificates(other)
    refused = pytest.raises(EngineUnavailableError, match="certificate verify failed")
    with relayed(socket_path, certificates(tmp_path)) as relay, refused:
        over(relay, tmp_path, DOCKER_TLS_VERIFY="1", DOCKER_CERT_PATH=str(other))


def test_a_connection_that_breaks_ends_the_frames_and_the_log_has_the_rest(relay: Relay, base: str, tmp_path: Path) -> None:
    engine = over(relay, tmp_path)
    script = "echo before; sleep 1; echo after"
    with engine.container(a_request(base, "sh", "-c", script)) as container:
        streams = container.attach()
        container.start()
        frames = streams.frames()
        assert next(frames) == (1, b"before\n")
        relay.cut()
        assert list(frames) == []
        end = container.wait(30)
        assert end is not None
        assert output(container.logs())[1] == b"before\nafter\n"
    engine.close()


def test_an_engine_that_is_gone_is_an_engine_error(socket_path: str, base: str, tmp_path: Path, engine: DockerEngine) -> None:
    with relayed(socket_path) as relay:
        lost = over(relay, tmp_path)
    with pytest.raises(EngineError, match="could not look up the image"):
        lost.image(base)
    lost.close()

"""Where an engine is looked for, and in which order."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import msgspec
import pytest

from paritygate.docker_engine.connect import hint_of
from paritygate.docker_engine.endpoints import Candidate, Certificates, EndpointSearch, candidates, inside_container
from paritygate.docker_engine.requests import Endpoint
from paritygate.errors import ConfigError, UsageError

DEFAULT = "unix:///default.sock"


def a_search(home: Path, host: str = "", **environment: str) -> EndpointSearch:
    return EndpointSearch(environment=environment, home=home, host=host, default=DEFAULT, system_sockets=())


def write_context(home: Path, name: str, host: str, *, skip_verify: bool = False) -> Path:
    digest = hashlib.sha256(name.encode()).hexdigest()
    folder = home / ".docker" / "contexts" / "meta" / digest
    folder.mkdir(parents=True)
    endpoint = {"Host": host, "SkipTLSVerify": skip_verify}
    (folder / "meta.json").write_text(json.dumps({"Name": name, "Metadata": {}, "Endpoints": {"docker": endpoint}}))
    return home / ".docker" / "contexts" / "tls" / digest / "docker"


def use_context(home: Path, name: str) -> None:
    (home / ".docker").mkdir(exist_ok=True)
    (home / ".docker" / "config.json").write_text(json.dumps({"currentContext": name, "auths": {}}))


def places(search: EndpointSearch) -> list[tuple[str, str]]:
    return [(found.endpoint.url, found.endpoint.why) for found in candidates(search)]


def test_without_anything_only_the_default_socket_is_asked(tmp_path: Path) -> None:
    assert places(a_search(tmp_path)) == [(DEFAULT, "default socket")]


def test_the_flag_wins_over_every_variable_and_nothing_else_is_asked(tmp_path: Path) -> None:
    search = a_search(tmp_path, "tcp://flag:1", DOCKER_HOST="tcp://variable:2", DOCKER_CONTEXT="other")
    assert candidates(search) == (Candidate(endpoint=Endpoint("tcp://flag:1", "flag"), explicit=True, may_wait=True),)


def test_an_engine_of_the_settings_goes_over_everything_and_is_a_context_or_an_address(tmp_path: Path) -> None:
    write_context(tmp_path, "other", "tcp://context:3")
    search = a_search(tmp_path, DOCKER_HOST="tcp://variable:2", DOCKER_CONTEXT="nobody")
    named = {name: places(msgspec.structs.replace(search, engine=name)) for name in ("other", "default", "tcp://far:2376")}
    assert named == {
        "other": [("tcp://context:3", "context other")],
        "default": [(DEFAULT, "context default")],
        "tcp://far:2376": [("tcp://far:2376", "the settings")],
    }
    with pytest.raises(ConfigError, match="there is no Docker context `nobody`"):
        candidates(msgspec.structs.replace(search, engine="nobody"))
    with pytest.raises(UsageError, match="which is no address of an engine"):
        candidates(msgspec.structs.replace(search, engine="far/away"))


def test_docker_host_wins_over_docker_context(tmp_path: Path) -> None:
    write_context(tmp_path, "other", "tcp://context:3")
    search = a_search(tmp_path, DOCKER_HOST="tcp://variable:2", DOCKER_CONTEXT="other")
    assert places(search) == [("tcp://variable:2", "DOCKER_HOST")]


def test_docker_context_wins_over_the_current_context_and_must_answer(tmp_path: Path) -> None:
    write_context(tmp_path, "one", "tcp://one:1")
    write_context(tmp_path, "two", "tcp://two:2")
    use_context(tmp_path, "two")
    (found,) = candidates(a_search(tmp_path, DOCKER_CONTEXT="one"))
    assert (found.endpoint, found.explicit) == (Endpoint("tcp://one:1", "context one"), True)


def test_the_current_context_comes_first_and_the_usual_places_after_it(tmp_path: Path) -> None:
    write_context(tmp_path, "two", "tcp://two:2")
    use_context(tmp_path, "two")
    assert places(a_search(tmp_path)) == [("tcp://two:2", "context two"), (DEFAULT, "default socket")]


def test_the_context_named_default_is_the_default_socket_and_needs_no_file(tmp_path: Path) -> None:
    assert places(a_search(tmp_path, DOCKER_CONTEXT="default")) == [(DEFAULT, "context default")]


def test_an_unknown_context_is_an_error_that_lists_the_known_ones(tmp_path: Path) -> None:
    write_context(tmp_path, "colima", "unix:///colima.sock")
    with pytest.raises(ConfigError) as caught:
        candidates(a_search(tmp_path, DOCKER_CONTEXT="colmia"))
    assert caught.value.problems == ("there is no Docker context `colmia`; known are `default`, `colima`",)
    assert "`DOCKER_CONTEXT`" in caught.value.message


def test_an_unknown_current_context_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    use_context(tmp_path, "gone")
    with pytest.raises(ConfigError, match="there is no Docker context `gone`; known are `default`") as caught:
        candidates(a_search(tmp_path))
    assert str(tmp_path / ".docker" / "config.json") in caught.value.message


def test_a_broken_configuration_is_an_error_and_not_the_default_socket(tmp_path: Path) -> None:
    (tmp_path / ".docker").mkdir()
    (tmp_path / ".docker" / "config.json").write_text("{")
    with pytest.raises(ConfigError, match="cannot be read"):
        candidates(a_search(tmp_path))


def test_docker_config_names_another_folder(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    write_context(tmp_path, "one", "tcp://one:1")
    (tmp_path / ".docker").rename(elsewhere)
    assert places(a_search(tmp_path, DOCKER_CONTEXT="one", DOCKER_CONFIG=str(elsewhere))) == [("tcp://one:1", "context one")]


def test_the_certificates_of_a_context_are_used_and_verified(tmp_path: Path) -> None:
    secrets = write_context(tmp_path, "far", "tcp://far:2376")
    secrets.mkdir(parents=True)
    for name in ("ca.pem", "cert.pem", "key.pem"):
        (secrets / name).write_text("")
    (found,) = candidates(a_search(tmp_path, DOCKER_CONTEXT="far"))
    assert found.certificates == Certificates(
        authority=str(secrets / "ca.pem"), certificate=str(secrets / "cert.pem"), key=str(secrets / "key.pem"), verify=True
    )


def test_tls_verification_takes_the_certificates_of_the_home_where_no_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / ".docker").mkdir()
    (tmp_path / ".docker" / "ca.pem").write_text("")
    (found,) = candidates(a_search(tmp_path, DOCKER_HOST="tcp://far:2376", DOCKER_TLS_VERIFY="1"))
    assert found.certificates == Certificates(authority=str(tmp_path / ".docker" / "ca.pem"), verify=True)


@pytest.mark.skipif(sys.platform == "win32", reason="unix sockets")
def test_the_usual_sockets_are_asked_in_a_fixed_order_where_they_exist(tmp_path: Path) -> None:
    runtime = tmp_path / "run"
    sockets = [
        tmp_path / ".docker/run/docker.sock",
        tmp_path / ".colima/default/docker.sock",
        tmp_path / ".colima/work/docker.sock",
        tmp_path / ".orbstack/run/docker.sock",
        tmp_path / ".rd/docker.sock",
        runtime / "docker.sock",
        runtime / "podman/podman.sock",
    ]
    for path in reversed(sockets):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    found = places(a_search(tmp_path, XDG_RUNTIME_DIR=str(runtime)))
    assert found == [(DEFAULT, "default socket"), *((f"unix://{path}", "usual socket") for path in sockets)]


def test_a_place_is_asked_once_though_it_is_found_twice(tmp_path: Path) -> None:
    write_context(tmp_path, "same", DEFAULT)
    use_context(tmp_path, "same")
    assert places(a_search(tmp_path)) == [(DEFAULT, "context same")]


GOOD = (
    "unix:///var/run/docker.sock",
    "unix://run/docker.sock",
    "http+unix:///docker.sock",
    "npipe:////./pipe/docker_engine",
    "tcp://engine:2375",
    "tcp://[::1]:2376",
    "https://10.0.0.1:2376/prefix",
    "ssh://somebody@far.example",
    "ssh://far.example:2222",
)
BAD = (
    "garbage",
    "localhost:2375",
    "ftp://far",
    "fd://",
    "unix:nowhere",
    "tcp://",
    "tcp://far",
    "tcp://far:0",
    "tcp://far:99999",
    "tcp://[::1",
    "tcp://somebody:secret@far:2375",
    "ssh://",
    " tcp://far:2375",
)


@pytest.mark.parametrize("url", GOOD)
def test_an_address_of_an_engine_is_asked(tmp_path: Path, url: str) -> None:
    assert places(a_search(tmp_path, url)) == [(url, "flag")]


@pytest.mark.parametrize("url", BAD)
def test_what_is_no_address_is_refused_wherever_it_comes_from(tmp_path: Path, url: str) -> None:
    write_context(tmp_path, "broken", url)
    for source, search in (
        ("--host", a_search(tmp_path, url)),
        ("DOCKER_HOST", a_search(tmp_path, DOCKER_HOST=url)),
        ("docker context broken", a_search(tmp_path, DOCKER_CONTEXT="broken")),
    ):
        with pytest.raises(UsageError) as caught:
            candidates(search)
        assert caught.value.message == f"`{source}` is `{url}`, which is no address of an engine"
        assert caught.value.hint == "write a URL, such as `unix:///var/run/docker.sock` or `tcp://HOST:2376`"


def test_a_path_is_said_to_lack_its_scheme(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        candidates(a_search(tmp_path, "/var/run/docker.sock"))
    assert caught.value.hint == "write `unix:///var/run/docker.sock`"


@pytest.mark.parametrize(
    ("mark", "content", "inside"),
    [
        ("nothing", "", False),
        (".dockerenv", "", True),
        ("run/.containerenv", "", True),
        ("proc/1/cgroup", "0::/init.scope\n", False),
        ("proc/1/cgroup", "4:memory:/kubepods/besteffort/pod1\n", True),
        ("proc/1/cgroup", "4:memory:/docker/0123\n", True),
    ],
)
def test_a_container_is_known_by_its_marks(tmp_path: Path, mark: str, content: str, *, inside: bool) -> None:
    path = tmp_path / mark
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    assert inside_container(tmp_path) is inside


@pytest.mark.parametrize("url", ["tcp://127.0.0.1:1", "tcp://localhost:1", "http://[::1]:1"])
def test_localhost_is_explained_inside_a_container_only(url: str) -> None:
    candidate = Candidate(endpoint=Endpoint(url, "flag"), explicit=True)
    refused = "[Errno 111] Connection refused"
    assert hint_of(candidate, refused, contained=True).startswith("inside a container `localhost` is the container itself")
    assert hint_of(candidate, refused, contained=False) == (
        "start that engine, or leave out `--host` to let the usual places be tried"
    )
    far = Candidate(endpoint=Endpoint("tcp://localhost.far:1", "DOCKER_HOST"), explicit=True)
    assert hint_of(far, refused, contained=True) == "start that engine, or unset `DOCKER_HOST` to let the usual places be tried"

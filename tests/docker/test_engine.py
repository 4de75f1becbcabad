"""The engine over Docker: the contract, and what only a real engine shows."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from docker import APIClient
from docker.errors import NotFound

from paritygate.docker_engine.connect import connect
from paritygate.docker_engine.endpoints import EndpointSearch
from paritygate.docker_engine.engine import DockerEngine
from paritygate.docker_engine.requests import KIND_LABEL, OWNER_LABEL, TEMPORARY, BuildRequest, Commit
from paritygate.errors import BuildError, EngineError, EngineUnavailableError
from tests.support.engine_contract import EngineContract, a_request, ignore, output

pytestmark = pytest.mark.docker

MEBIBYTE = 1 << 20


class TestDockerEngine(EngineContract):
    """The contract; its fixtures come from the folder's conftest."""


@pytest.fixture(scope="session")
def client(engine: DockerEngine) -> Iterator[APIClient]:
    """Look at the engine past our own code."""
    client = APIClient(base_url=engine.info.endpoint.url, version="auto")
    yield client
    client.close()


def run(engine: DockerEngine, base: str, script: str, **settings: object) -> dict[int, bytes]:
    with engine.container(a_request(base, "python3", "-c", script, **settings)) as container:
        streams = container.attach()
        container.start()
        return output(streams.frames())


def exists(client: APIClient, identity: str) -> bool:
    try:
        client.inspect_container(identity)
    except NotFound:
        return False
    return True


def volumes_of(client: APIClient) -> set[str]:
    return {volume["Name"] for volume in client.volumes()["Volumes"] or []}


def test_the_engine_says_what_it_is(engine: DockerEngine) -> None:
    info = engine.info
    assert info.name in {"Docker Engine", "Podman"}
    assert info.platform.startswith("linux/")
    assert info.cpus >= 1
    assert info.memory > 0
    assert tuple(int(part) for part in info.api.split(".")) >= (1, 41)


def test_a_container_has_no_network_and_yet_its_own_name_and_localhost_resolve(engine: DockerEngine, base: str) -> None:
    script = (
        "import os, socket\n"
        "print(sorted(os.listdir('/sys/class/net')))\n"
        "print(socket.gethostname(), socket.gethostbyname(socket.gethostname()), socket.gethostbyname('localhost'))\n"
    )
    assert run(engine, base, script, hostname="parity-host")[1].decode().splitlines() == [
        "['lo']",
        "parity-host 127.0.0.1 127.0.0.1",
    ]


def test_a_container_with_a_network_has_one(engine: DockerEngine, base: str) -> None:
    assert b"eth0" in run(engine, base, "import os; print(os.listdir('/sys/class/net'))", network=True)[1]


def test_limits_and_capabilities_are_those_that_were_asked_for(engine: DockerEngine, base: str, client: APIClient) -> None:
    script = (
        "import os\n"
        "status = dict(line.split(':\\t', 1) for line in open('/proc/self/status').read().splitlines() if ':\\t' in line)\n"
        "print(int(status['CapBnd'], 16), status['NoNewPrivs'])\n"
        "print(os.statvfs('/dev/shm').f_frsize * os.statvfs('/dev/shm').f_blocks >> 20)\n"
    )
    settings: dict[str, object] = {
        "capabilities": ("SETUID",),
        "processes": 77,
        "memory": 256 * MEBIBYTE,
        "cpus": 0.5,
        "shared_memory": 96 * MEBIBYTE,
    }
    assert run(engine, base, script, **settings)[1].decode().split() == [str(1 << 7), "1", "96"]
    with engine.container(a_request(base, "true", **settings)) as container:
        host = client.inspect_container(container.identity)["HostConfig"]
    assert host["PidsLimit"] == 77
    assert (host["Memory"], host["MemorySwap"]) == (256 * MEBIBYTE, 256 * MEBIBYTE)
    assert host["NanoCpus"] == 500_000_000
    assert host["Init"] is True
    assert host["AutoRemove"] is False
    assert host["LogConfig"] == {"Type": "json-file", "Config": {"max-size": "2g", "max-file": "1"}}


def test_ownership_and_modes_are_those_of_the_tar(engine: DockerEngine, base: str) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        folder = tarfile.TarInfo("opt/put/deep")
        folder.type, folder.uid, folder.gid, folder.mode = tarfile.DIRTYPE, 1000, 1001, 0o755
        tar.addfile(folder)
        member = tarfile.TarInfo("opt/put/deep/file")
        member.uid, member.gid, member.mode, member.size, member.mtime = 1234, 4321, 0o604, 3, 86400
        tar.addfile(member, io.BytesIO(b"abc"))
        link = tarfile.TarInfo("opt/put/dangling")
        link.type, link.linkname = tarfile.SYMTYPE, "/no/where"
        tar.addfile(link)
    script = (
        "import os\n"
        "for path in ('/opt/put/deep', '/opt/put/deep/file', '/opt/put/dangling'):\n"
        "    found = os.lstat(path)\n"
        "    print(found.st_uid, found.st_gid, oct(found.st_mode & 0o7777), os.path.islink(path), int(found.st_mtime))\n"
    )
    whole = packed.getvalue()
    with engine.container(a_request(base, "python3", "-c", script)) as container:
        container.put("/", (whole[start : start + 1000] for start in range(0, len(whole), 1000)))
        streams = container.attach()
        container.start()
        lines = output(streams.frames())[1].decode().splitlines()
    assert lines == ["1000 1001 0o755 False 0", "1234 4321 0o604 False 86400", "0 0 0o777 True 0"]


def test_files_for_a_folder_that_is_not_there_are_refused(engine: DockerEngine, base: str) -> None:
    with engine.container(a_request(base, "true")) as container, pytest.raises(EngineError, match="`/no/such/folder`"):
        container.put("/no/such/folder", [b"\0" * 1024])


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_container_is_removed_whatever_happened_while_it_ran(
    engine: DockerEngine, base: str, client: APIClient, failure: type[BaseException]
) -> None:
    kept = []
    with pytest.raises(failure), engine.container(a_request(base, "sleep", "60")) as container:  # noqa: PT012
        kept.append(container.identity)
        container.start()
        assert exists(client, container.identity)
        raise failure
    assert not exists(client, kept[0])


def test_its_volumes_go_with_it(engine: DockerEngine, base: str, client: APIClient, tag: str) -> None:
    recipe = f"FROM {base}\nVOLUME /data".encode()
    engine.build(BuildRequest(tag=tag, files={"Dockerfile": recipe}, labels={}), ignore)
    with engine.container(a_request(tag, "true")) as container:
        (mount,) = client.inspect_container(container.identity)["Mounts"]
        assert mount["Name"] in volumes_of(client)
    assert mount["Name"] not in volumes_of(client)


def test_a_container_that_somebody_else_removed_is_no_error(engine: DockerEngine, base: str, client: APIClient) -> None:
    with engine.container(a_request(base, "sleep", "60")) as container:
        container.start()
        client.remove_container(container.identity, force=True)
        container.kill()
        end = container.wait(5)
    assert end is not None
    assert end.exit_code == -1
    assert end.detail.startswith("it is gone")


def test_two_containers_of_one_name_live_side_by_side(engine: DockerEngine, base: str) -> None:
    with engine.container(a_request(base, "true")) as one, engine.container(a_request(base, "true")) as other:
        assert one.identity != other.identity


def test_a_process_that_takes_too_much_memory_is_ended_and_said_to_be_out_of_memory(engine: DockerEngine, base: str) -> None:
    hungry = a_request(base, "python3", "-c", "held = bytearray(512 << 20); print(len(held))", memory=64 * MEBIBYTE)
    with engine.container(hungry) as container:
        container.start()
        end = container.wait(60)
    assert end is not None
    assert end.out_of_memory
    assert end.exit_code == 137


def test_nothing_of_the_variables_stays_anywhere_in_the_image(
    engine: DockerEngine, base: str, client: APIClient, tag: str
) -> None:
    request = a_request(base, "sh", "-c", "true", kind="install", environment={"INDEX_PASSWORD": "hunter2"})
    with engine.container(request) as container:
        container.start()
        container.wait(30)
        container.commit(Commit(tag=tag, labels={KIND_LABEL: "test"}, environment={"PATH": "/bin"}, command=("true",)))
    said = json.dumps([client.inspect_image(tag), client.history(tag)])
    assert "INDEX_PASSWORD" not in said
    assert "hunter2" not in said
    assert client.inspect_image(tag)["Config"]["Cmd"] == ["true"]


def test_a_long_log_is_read_again_whole(engine: DockerEngine, base: str) -> None:
    script = "import sys\nfor number in range(3000): print(str(number) * 200)\nprint('last', file=sys.stderr)"
    with engine.container(a_request(base, "python3", "-c", script)) as container:
        streams = container.attach()
        container.start()
        attached = output(streams.frames())
        container.wait(30)
        assert output(container.logs()) == attached
    assert attached[1].decode().splitlines() == [str(number) * 200 for number in range(3000)]
    assert attached[2] == b"last\n"


CHILD = """
import os, sys
from pathlib import Path
from paritygate.docker_engine.connect import connect
from paritygate.docker_engine.endpoints import EndpointSearch
from paritygate.docker_engine.requests import ContainerRequest
engine = connect(EndpointSearch(environment=dict(os.environ), home=Path.home()))
request = ContainerRequest(image=sys.argv[1], command=("cat",), kind="cell", name="orphan", stdin=True)
with engine.container(request) as container:
    streams = container.attach()
    container.start()
    streams.write(b"up\\n")
    next(streams.frames())
    print(container.identity, flush=True)
    for frame in streams.frames():
        pass
"""


@pytest.fixture
def orphan(base: str) -> Iterator[subprocess.Popen[str]]:
    child = subprocess.Popen([sys.executable, "-c", CHILD, base], stdout=subprocess.PIPE, text=True)
    yield child
    child.kill()
    child.communicate()


def ended(client: APIClient, identity: str) -> bool:
    """Wait, with a generous limit, until a container has ended by itself, or another gate's sweep was quicker."""
    give_up = time.monotonic() + 60
    while exists(client, identity) and time.monotonic() < give_up:
        with contextlib.suppress(NotFound):
            if client.inspect_container(identity)["State"]["Status"] == "exited":
                return True
        time.sleep(0.05)
    return not exists(client, identity)


def test_what_a_killed_gate_leaves_ends_by_itself_and_the_next_sweep_removes_it(
    engine: DockerEngine, client: APIClient, orphan: subprocess.Popen[str]
) -> None:
    assert orphan.stdout is not None
    identity = orphan.stdout.readline().strip()
    engine.sweep()
    assert exists(client, identity)
    os.kill(orphan.pid, signal.SIGKILL)
    orphan.wait()
    assert ended(client, identity)
    engine.sweep()
    assert not exists(client, identity)


def test_temporary_images_of_dead_runs_are_swept_and_those_of_living_ones_kept(
    engine: DockerEngine, base: str, client: APIClient, tag: str
) -> None:
    recipe = f"FROM {base}".encode()
    made = engine.build(BuildRequest(tag=tag, files={"Dockerfile": recipe}, labels={KIND_LABEL: TEMPORARY}), ignore)
    engine.sweep()
    assert engine.image(tag) == made
    engine.remove_image(tag)
    owner = json.loads(made.labels[OWNER_LABEL])
    dead = {KIND_LABEL: TEMPORARY, OWNER_LABEL: json.dumps({**owner, "started": "long ago"})}
    engine.build(BuildRequest(tag=tag, files={"Dockerfile": recipe}, labels=dead), ignore)
    engine.sweep()  # says nothing where another gate's sweep, at the same time, was first
    assert engine.image(tag) is None


def test_many_sweeps_at_once_do_not_disturb_each_other(engine: DockerEngine, base: str, client: APIClient, tag: str) -> None:
    made = engine.build(
        BuildRequest(tag=tag, files={"Dockerfile": f"FROM {base}".encode()}, labels={KIND_LABEL: TEMPORARY}), ignore
    )
    dead = json.dumps({**json.loads(made.labels[OWNER_LABEL]), "started": "long ago"})
    names = [f"{tag}-{number}" for number in range(12)]
    for name in names:
        recipe = f"FROM {base}\nLABEL a.name={name}".encode()
        labels = {KIND_LABEL: TEMPORARY, OWNER_LABEL: dead}
        engine.build(BuildRequest(tag=name, files={"Dockerfile": recipe}, labels=labels), ignore)
    with ThreadPoolExecutor(6) as threads:
        for sweep in [threads.submit(engine.sweep) for _ in range(6)]:
            sweep.result()
    assert [engine.image(name) for name in names] == [None] * 12


@pytest.mark.filterwarnings("ignore:docker-credential-not-there")
def test_a_failing_credential_helper_does_not_stop_a_build_from_a_local_image(
    base: str, tag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"credsStore": "not-there"}))
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    engine = connect(EndpointSearch(environment=dict(os.environ), home=Path.home()))
    lines: list[str] = []
    made = engine.build(BuildRequest(tag=tag, files={"Dockerfile": f"FROM {base}".encode()}, labels={}), ignore)
    assert tag in made.tags
    assert engine.pull("registry.invalid/paritygate/none:1", lines.append) is None
    assert lines[0].startswith("pulling `registry.invalid/paritygate/none:1` without credentials: ")
    engine.close()


def test_a_recipe_that_cannot_be_read_is_a_build_error(engine: DockerEngine, tag: str) -> None:
    with pytest.raises(BuildError) as caught:
        engine.build(BuildRequest(tag=tag, files={"Dockerfile": b"NONSENSE"}, labels={}), ignore)
    assert "NONSENSE" in str(caught.value)


def test_several_threads_use_one_engine(engine: DockerEngine, base: str) -> None:
    heard: dict[str, bytes] = {}

    def talk(word: str) -> None:
        heard[word] = run(engine, base, f"print('{word}')")[1]

    threads = [threading.Thread(target=talk, args=(word,)) for word in ("one", "two", "three")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == {"one": b"one\n", "two": b"two\n", "three": b"three\n"}


def test_a_chosen_endpoint_that_nobody_listens_on_is_an_error_though_another_engine_runs(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    search = EndpointSearch(environment={"DOCKER_HOST": f"tcp://127.0.0.1:{port}"}, home=tmp_path)
    with pytest.raises(EngineUnavailableError, match="the engine chosen by DOCKER_HOST does not answer") as caught:
        connect(search)
    (line,) = caught.value.tried
    assert line.startswith(f"`tcp://127.0.0.1:{port}` (DOCKER_HOST): ")
    assert "refused" in line


def test_an_engine_that_is_slow_to_come_up_is_waited_for(engine: DockerEngine, tmp_path: Path) -> None:
    late = tmp_path / "late.sock"
    real = engine.info.endpoint.url.removeprefix("unix://")
    timer = threading.Timer(0.6, late.symlink_to, args=(real,))
    timer.start()
    search = EndpointSearch(environment={"DOCKER_HOST": f"unix://{late}"}, home=tmp_path, ready_seconds=30)
    found = connect(search)
    assert found.info.version == engine.info.version
    assert found.info.identity == engine.info.identity
    found.close()
    timer.join()


def test_without_any_engine_every_place_is_listed_with_what_it_said(tmp_path: Path) -> None:
    broken = tmp_path / ".docker/run/docker.sock"
    broken.parent.mkdir(parents=True)
    broken.touch()
    search = EndpointSearch(environment={}, home=tmp_path, default=f"unix://{tmp_path}/none.sock", system_sockets=())
    with pytest.raises(EngineUnavailableError) as caught:
        connect(search)
    first, second = caught.value.tried
    assert first.startswith(f"`unix://{tmp_path}/none.sock` (default socket): ")
    assert "No such file or directory" in first
    assert second.startswith(f"`unix://{broken}` (usual socket): ")
    assert caught.value.exit_code == 4


def test_a_place_that_does_not_answer_is_passed_over_for_one_that_does(engine: DockerEngine, tmp_path: Path) -> None:
    real = Path(engine.info.endpoint.url.removeprefix("unix://"))
    search = EndpointSearch(environment={}, home=tmp_path, default=f"unix://{tmp_path}/none.sock", system_sockets=(real,))
    found = connect(search)
    assert found.info.endpoint.why == "usual socket"
    found.close()

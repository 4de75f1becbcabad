"""What every engine does, whatever it is made of: run against the fake in memory and against Docker."""

from __future__ import annotations

import io
import tarfile
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from paritygate.docker_engine.requests import (
    DEADLINE_LABEL,
    KIND_LABEL,
    OWNER_LABEL,
    RUN_LABEL,
    BuildRequest,
    Commit,
    ContainerRequest,
)
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import BuildError, EngineError


def a_request(image: str, *command: str, **settings: Any) -> ContainerRequest:
    values: dict[str, Any] = {"kind": "cell", "name": "contract", "seconds": 120.0, **settings}
    return ContainerRequest(image=image, command=command, **values)


def a_tar(**contents: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def output(frames: Iterator[tuple[int, bytes]]) -> dict[int, bytes]:
    together = {1: b"", 2: b""}
    for stream, data in frames:
        together[stream] += data
    return together


def ignore(line: str) -> None:
    return


class EngineContract:
    """Tests over the fixtures `engine`, `base` (an image with the usual programs) and `tag` (a name that is free)."""

    def test_output_of_both_streams_arrives_and_the_exit_code_with_it(self, engine: Engine, base: str) -> None:
        with engine.container(a_request(base, "cat", "/no/such/file")) as container:
            streams = container.attach()
            container.start()
            assert output(streams.frames()) == {1: b"", 2: b"cat: /no/such/file: No such file or directory\n"}
            end = container.wait(30)
        assert end is not None
        assert end.exit_code == 1
        assert not end.out_of_memory

    def test_stdin_reaches_the_process_and_its_answer_comes_back_while_it_runs(self, engine: Engine, base: str) -> None:
        with engine.container(a_request(base, "cat", stdin=True)) as container:
            streams = container.attach()
            container.start()
            frames = streams.frames()
            streams.write(b"one\n")
            assert next(frames) == (1, b"one\n")
            streams.write(b"two\n")
            assert next(frames) == (1, b"two\n")

    def test_closing_the_streams_from_another_thread_ends_the_reader(self, engine: Engine, base: str) -> None:
        with engine.container(a_request(base, "cat", stdin=True)) as container:
            streams = container.attach()
            container.start()
            timer = threading.Timer(0.2, streams.close)
            timer.start()
            assert list(streams.frames()) == []
            timer.join()

    def test_the_end_of_stdin_is_seen_when_the_streams_are_closed(self, engine: Engine, base: str) -> None:
        with engine.container(a_request(base, "cat", stdin=True)) as container:
            streams = container.attach()
            container.start()
            streams.close()
            end = container.wait(30)
        assert end is not None
        assert end.exit_code == 0

    def test_waiting_too_short_says_nothing(self, engine: Engine, base: str) -> None:
        with engine.container(a_request(base, "sleep", "60")) as container:
            container.start()
            assert container.wait(0.2) is None

    def test_a_killed_container_ends_with_137_and_may_be_killed_again(self, engine: Engine, base: str) -> None:
        with engine.container(a_request(base, "sleep", "60")) as container:
            container.start()
            container.kill()
            end = container.wait(30)
            container.kill()
        assert end is not None
        assert end.exit_code == 137
        assert not end.out_of_memory

    def test_the_log_can_be_read_again_from_the_beginning(self, engine: Engine, base: str) -> None:
        with engine.container(a_request(base, "echo", "again")) as container:
            container.start()
            container.wait(30)
            assert list(container.logs()) == [(1, b"again\n")]
            assert list(container.logs()) == [(1, b"again\n")]

    def test_files_put_in_before_the_start_are_there(self, engine: Engine, base: str) -> None:
        with engine.container(a_request(base, "cat", "/etc/put-in")) as container:
            container.put("/etc", [a_tar(**{"put-in": b"here"})])
            streams = container.attach()
            container.start()
            assert output(streams.frames())[1] == b"here"

    def test_a_tar_that_cannot_be_read_is_not_blamed_on_the_engine(self, engine: Engine, base: str) -> None:
        def broken() -> Iterator[bytes]:
            yield b"\0" * 512
            raise PermissionError("our own file")

        with engine.container(a_request(base, "echo")) as container, pytest.raises(PermissionError, match="our own file"):
            container.put("/etc", broken())

    def test_an_image_made_of_a_container_holds_its_files_but_none_of_its_variables(
        self, engine: Engine, base: str, tag: str
    ) -> None:
        with engine.container(
            a_request(base, "env", kind="install", environment={"TOKEN": "it's $ecret\nand more"})
        ) as container:
            container.put("/etc", [a_tar(kept=b"kept")])
            streams = container.attach()
            container.start()
            assert b"TOKEN=it's $ecret\nand more\n" in output(streams.frames())[1]
            container.wait(30)
            made = container.commit(Commit(tag=tag, labels={KIND_LABEL: "contract"}, environment={"SHOWN": "yes"}))
        assert made.labels[KIND_LABEL] == "contract"
        assert not {RUN_LABEL, OWNER_LABEL, DEADLINE_LABEL} & set(made.labels)
        with engine.container(a_request(tag, "env")) as container:
            streams = container.attach()
            container.start()
            shown = output(streams.frames())[1].decode().splitlines()
        assert "SHOWN=yes" in shown
        assert not [line for line in shown if "TOKEN" in line or "more" in line]
        with engine.container(a_request(tag, "cat", "/etc/kept")) as container:
            streams = container.attach()
            container.start()
            assert output(streams.frames())[1] == b"kept"

    def test_a_build_gives_an_image_with_labels_and_tells_its_steps(self, engine: Engine, base: str, tag: str) -> None:
        lines: list[str] = []
        recipe = f"FROM {base}\nENV BUILT={tag}".encode()
        made = engine.build(BuildRequest(tag=tag, files={"Dockerfile": recipe}, labels={KIND_LABEL: "contract"}), lines.append)
        assert made.tags == (tag,)
        assert made.labels[KIND_LABEL] == "contract"
        assert any(line.endswith(f" : ENV BUILT={tag}") for line in lines)
        assert made in engine.images()
        assert made in engine.images(f"{KIND_LABEL}=contract")
        assert made not in engine.images(f"{KIND_LABEL}=another")

    def test_a_build_that_fails_tells_the_end_of_its_log(self, engine: Engine, base: str, tag: str) -> None:
        recipe = f"FROM {base}\nRUN false".encode()
        with pytest.raises(BuildError, match="non-zero code: 1") as caught:
            engine.build(BuildRequest(tag=tag, files={"Dockerfile": recipe}, labels={}), ignore)
        assert "RUN false" in caught.value.tail
        assert engine.image(tag) is None

    def test_an_imported_root_file_system_is_an_image(self, engine: Engine, tag: str) -> None:
        made = engine.import_image([a_tar(hello=b"world")], tag, {KIND_LABEL: "contract", "quoted": 'a "b" $c \\d'})
        assert made.labels == {KIND_LABEL: "contract", "quoted": 'a "b" $c \\d'}
        assert engine.image(tag) == made

    def test_an_image_that_was_saved_is_there_again_once_it_is_loaded(self, engine: Engine, tag: str) -> None:
        made = engine.import_image([a_tar(a=b"some")], tag, {KIND_LABEL: "temporary"})
        saved = b"".join(pieces) if (pieces := list(engine.save((tag,)))) else b""
        engine.remove_image(tag)
        assert engine.image(tag) is None
        engine.load([saved])
        assert engine.image(tag) == made

    def test_an_image_that_is_not_there_cannot_be_saved(self, engine: Engine) -> None:
        with pytest.raises(EngineError, match="could not send `paritygate-test:none`"):
            list(engine.save(("paritygate-test:none",)))

    def test_it_answers(self, engine: Engine) -> None:
        assert engine.answers()

    def test_an_image_that_no_registry_has_is_none_and_the_log_says_why(self, engine: Engine) -> None:
        lines: list[str] = []
        assert engine.pull("registry.invalid/paritygate/none:1", lines.append) is None
        assert lines[-1].startswith("`registry.invalid/paritygate/none:1` cannot be pulled: ")

    def test_removing_an_image_twice_is_no_error(self, engine: Engine, tag: str) -> None:
        engine.import_image([a_tar(hello=b"world")], tag, {})
        engine.remove_image(tag)
        assert engine.image(tag) is None
        engine.remove_image(tag)

    def test_a_container_of_a_missing_image_is_an_engine_error(self, engine: Engine) -> None:
        context = engine.container(a_request("paritygate/none:1", "true"))
        with pytest.raises(EngineError, match=r"could not create a container of `paritygate/none:1`: No such image"):
            context.__enter__()

    def test_a_missing_program_is_named_on_stderr_and_ends_with_127(self, engine: Engine, base: str) -> None:
        with engine.container(a_request(base, "/no/such/program")) as container:
            streams = container.attach()
            container.start()
            assert b"exec /no/such/program failed: No such file or directory" in output(streams.frames())[2]
            end = container.wait(30)
        assert end is not None
        assert end.exit_code == 127

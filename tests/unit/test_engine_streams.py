"""Frames of an attached stream, however the bytes are cut."""

from __future__ import annotations

import socket
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paritygate.docker_engine.streams import HEADER, SocketStreams, parse_frames
from paritygate.errors import EngineError


def encoded(frames: list[tuple[int, bytes]]) -> bytes:
    return b"".join(HEADER.pack(stream, len(data)) + data for stream, data in frames)


def test_a_frame_has_a_header_of_eight_bytes() -> None:
    assert list(parse_frames(iter([b"\x01\0\0\0\0\0\0\x03abc\x02\0\0\0\0\0\0\x01!"]))) == [(1, b"abc"), (2, b"!")]


@given(
    frames=st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=40)), max_size=8),
    cuts=st.lists(st.integers(min_value=1, max_value=30), min_size=1, max_size=5),
)
def test_pieces_may_be_cut_anywhere(frames: list[tuple[int, bytes]], cuts: list[int]) -> None:
    data = encoded(frames)
    pieces = []
    turn = 0
    while data:
        size = cuts[turn % len(cuts)]
        pieces.append(data[:size])
        data = data[size:]
        turn += 1
    assert list(parse_frames(iter(pieces))) == frames


def test_a_frame_that_was_cut_off_is_dropped() -> None:
    assert list(parse_frames(iter([encoded([(1, b"whole"), (1, b"half")])[:-1]]))) == [(1, b"whole")]


def test_all_bytes_are_sent_though_the_other_side_is_slow() -> None:
    ours, theirs = socket.socketpair()
    streams = SocketStreams(ours)
    sent = b"x" * (4 << 20)
    writer = threading.Thread(target=streams.write, args=(sent,))
    writer.start()
    received = 0
    while received < len(sent):
        received += len(theirs.recv(1 << 16))
    writer.join()
    streams.release()
    theirs.close()
    assert received == len(sent)


def test_closing_wakes_a_reader_that_waits() -> None:
    ours, theirs = socket.socketpair()
    streams = SocketStreams(ours)
    heard: list[tuple[int, bytes]] = [(0, b"not yet")]

    def read() -> None:
        heard[:] = list(streams.frames())

    reader = threading.Thread(target=read)
    reader.start()
    theirs.sendall(encoded([(1, b"first")]))
    streams.close()
    reader.join(10)
    assert not reader.is_alive()
    assert heard in ([], [(1, b"first")])
    streams.release()
    theirs.close()


def test_the_other_side_that_goes_away_ends_the_frames_and_refuses_bytes() -> None:
    ours, theirs = socket.socketpair()
    streams = SocketStreams(ours)
    theirs.close()
    assert list(streams.frames()) == []
    with pytest.raises(EngineError, match="write to the container"):
        streams.write(b"x")
    streams.release()

"""Tests the encoding of frames over a real socket pair, with honest and hostile peers."""

from __future__ import annotations

import array
import gc
import json
import os
import socket
import struct

import pytest
from harness.wire import frames
from harness.wire.frames import Channel, FrameError


@pytest.fixture
def pair() -> tuple[Channel, socket.socket]:
    ours, theirs = socket.socketpair()
    return Channel(ours), theirs


def raw(
    header: bytes,
    payload: bytes = b"",
    magic: bytes = b"ASY1",
    sizes: tuple[int, int] | None = None,
) -> bytes:
    head, body = sizes or (len(header), len(payload))
    return struct.pack("<4sIQ", magic, head, body) + header + payload


def test_round_trip_with_payload_and_descriptors(pair: tuple[Channel, socket.socket]) -> None:
    channel, peer = pair
    sender = Channel(peer)
    read, write = os.pipe()
    sender.send({"type": "hello", "text": "ünï"}, b"\0" * 100_000, fds=[read, write])
    frame = channel.receive()
    assert frame is not None
    assert frame.header == {"type": "hello", "text": "ünï"}
    assert frame.payload == b"\0" * 100_000
    assert len(frame.fds) == 2
    os.write(frame.fds[1], b"x")
    assert os.read(read, 1) == b"x"
    assert not os.get_inheritable(frame.fds[0])
    frame.close()
    os.close(read)
    os.close(write)


def test_frames_sent_together_arrive_apart(pair: tuple[Channel, socket.socket]) -> None:
    channel, peer = pair
    peer.sendall(raw(b'{"type":"a"}', b"1") + raw(b'{"type":"b"}'))
    peer.close()
    assert [(frame.type, frame.payload) for frame in channel] == [("a", b"1"), ("b", b"")]
    assert channel.receive() is None


def test_a_channel_reports_waiting_data(pair: tuple[Channel, socket.socket]) -> None:
    channel, peer = pair
    assert not channel.has_more()
    peer.sendall(raw(b'{"type":"a"}') + raw(b'{"type":"b"}'))
    for _ in range(2):
        assert channel.has_more()
        channel.receive()
    assert not channel.has_more()
    peer.close()
    assert channel.has_more()
    assert channel.receive() is None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (raw(b'{"type":"a"}', magic=b"ASY2"), "magic"),
        (raw(b"", sizes=(frames.HEADER_BYTES + 1, 0)), "header of"),
        (raw(b"", sizes=(2, frames.PAYLOAD_BYTES + 1)), "payload of"),
        (raw(b"{nonsense}"), "not JSON"),
        (raw(b"\xff\xfe"), "not JSON"),
        (raw(b"[]"), "string `type`"),
        (raw(b'{"type":1}'), "string `type`"),
        (raw(b'{"type":"a","x":NaN}'), "NaN"),
        (
            raw(json.dumps({"type": "a"}).encode()[:-1] + b',"x":' + b"[" * 40 + b"]" * 40 + b"}"),
            "nested",
        ),
        (raw(b'{"type":"a"}')[:-3], "inside a frame"),
        (raw(b'{"type":"a"}')[:7], "inside a frame"),
        (raw(b'{"type":"a"}', b"abc")[:-1], "inside a frame"),
    ],
)
def test_broken_frames_are_refused(
    pair: tuple[Channel, socket.socket], data: bytes, message: str
) -> None:
    channel, peer = pair
    peer.sendall(data)
    peer.close()
    with pytest.raises(FrameError, match=message):
        channel.receive()


def test_brackets_in_strings_do_not_count_as_nesting() -> None:
    assert (
        frames.decode_header(json.dumps({"type": "a", "x": "[" * 100 + '"{' * 50}).encode())["type"]
        == "a"
    )


def test_descriptors_in_the_middle_of_a_frame_are_refused_and_closed(
    pair: tuple[Channel, socket.socket],
) -> None:
    channel, peer = pair
    gc.collect()  # an object of an earlier test may still have a descriptor
    before = len(os.listdir("/proc/self/fd"))
    data = raw(b'{"type":"a"}')
    peer.sendall(data[:20])
    peer.sendmsg(
        [data[20:]], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [peer.fileno()]))]
    )
    with pytest.raises(FrameError, match="middle"):
        channel.receive()
    assert len(os.listdir("/proc/self/fd")) == before


def test_too_many_descriptors_are_refused(pair: tuple[Channel, socket.socket]) -> None:
    channel, peer = pair
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    peer.sendmsg(
        [raw(b'{"type":"a"}')],
        [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [peer.fileno()] * 65))],
    )
    with pytest.raises(FrameError, match="cap"):
        channel.receive()
    assert len(os.listdir("/proc/self/fd")) == before
    with pytest.raises(FrameError, match="cap"):
        channel.send({"type": "a"}, fds=[0] * 65)


def test_a_sender_cannot_exceed_the_caps(pair: tuple[Channel, socket.socket]) -> None:
    with pytest.raises(FrameError, match="payload"):
        pair[0].send({"type": "a"}, b"0" * (frames.PAYLOAD_BYTES + 1))
    with pytest.raises(ValueError, match="Out of range"):
        pair[0].send({"type": "a", "x": float("nan")})

"""Encodes and decodes frames. A frame is a JSON header, a payload and file descriptors, and is sent
over a Unix stream socket (docs/reference/frames.md).

    channel = Channel(socket.socket(fileno=3))
    channel.send({"type": "ready"}, fds=[memfd])
    frame = channel.receive()  # None at an orderly end

Received sizes are checked against limits before memory is allocated. If a frame breaks a rule,
FrameError is raised, and the channel cannot be used after that. The descriptors of a bad frame are
closed. Not thread-safe: only one thread may use a channel."""

from __future__ import annotations

import array
import json
import os
import select
import socket
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

MAGIC = b"ASY1"
HEADER_BYTES = 4 << 20
PAYLOAD_BYTES = 64 << 20
DESCRIPTORS = 64
NESTING = 32
_PREFIX = struct.Struct("<4sIQ")

Header = dict[str, Any]


class FrameError(Exception):
    """The peer broke the protocol. No more frames can be read from this channel."""


@dataclass
class Frame:
    """One message. The receiver owns the descriptors and must close them."""

    header: Header
    payload: bytes = b""
    fds: list[int] = field(default_factory=list)

    @property
    def type(self) -> str:
        return str(self.header["type"])

    def close(self) -> None:
        for fd in self.fds:
            os.close(fd)
        self.fds = []


def encode(header: Header, payload: bytes = b"") -> bytes:
    """Returns the bytes of a frame. Raises FrameError if the frame exceeds a limit, so that the
    sender notices its own defect."""
    text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode()
    if len(text) > HEADER_BYTES:
        raise FrameError(f"header of {len(text)} bytes is over the cap of {HEADER_BYTES}")
    if len(payload) > PAYLOAD_BYTES:
        raise FrameError(f"payload of {len(payload)} bytes is over the cap of {PAYLOAD_BYTES}")
    return _PREFIX.pack(MAGIC, len(text), len(payload)) + text + payload


def decode_header(raw: bytes) -> Header:
    """Parses and checks a header. Raises FrameError if the header is invalid."""
    try:
        text = raw.decode("utf-8")
        if _nesting(text) > NESTING:
            raise FrameError(f"header is nested deeper than {NESTING}")
        header = json.loads(text, parse_constant=_no_constant)
    except (UnicodeDecodeError, ValueError) as error:
        raise FrameError(f"header is not JSON: {error}") from error
    if not isinstance(header, dict) or not isinstance(header.get("type"), str):
        raise FrameError("header is not a JSON object with a string `type`")
    return header


def _no_constant(name: str) -> None:
    raise FrameError(f"{name} is not a JSON number")


def _nesting(text: str) -> int:
    """Returns the nesting depth of a JSON text, computed without recursion. Returns 0 if the text
    has too few brackets to exceed the limit."""
    if text.count("[") + text.count("{") <= NESTING:
        return 0
    depth = deepest = 0
    in_string = escaped = False
    for char in text:
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "]}":
            depth -= 1
    return deepest


class Channel:
    """Sends and receives frames over one connected stream socket. Owns the socket."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._socket.setblocking(True)

    @classmethod
    def from_fd(cls, fd: int) -> Channel:
        return cls(socket.socket(fileno=fd))

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()

    def send(self, header: Header, payload: bytes = b"", fds: Sequence[int] = ()) -> None:
        """Sends one whole frame. The caller keeps the descriptors and must close them. Raises
        OSError if the peer has closed the socket."""
        if len(fds) > DESCRIPTORS:
            raise FrameError(f"{len(fds)} descriptors are over the cap of {DESCRIPTORS}")
        data = memoryview(encode(header, payload))
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        sent = self._socket.sendmsg([data], ancillary)
        if sent < len(data):
            self._socket.sendall(data[sent:])

    def has_more(self) -> bool:
        """Returns True if receive() would not block, because a frame has begun to arrive or because
        the peer has closed the socket."""
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return bool(poll.poll(0))

    def receive(self) -> Frame | None:
        """Returns the next frame, or None if the peer closed the socket between two frames. Raises
        FrameError for an invalid or incomplete frame, and OSError if the connection fails."""
        fds: list[int] = []
        try:
            prefix = self._read(_PREFIX.size, fds, at_start=True)
            if prefix is None:
                return None
            magic, header_size, payload_size = _PREFIX.unpack(prefix)
            if magic != MAGIC:
                raise FrameError(f"wrong magic {magic!r}")
            if header_size > HEADER_BYTES:
                raise FrameError(f"header of {header_size} bytes is over the cap of {HEADER_BYTES}")
            if payload_size > PAYLOAD_BYTES:
                raise FrameError(
                    f"payload of {payload_size} bytes is over the cap of {PAYLOAD_BYTES}"
                )
            header = decode_header(self._read(header_size, fds) or b"")
            payload = self._read(payload_size, fds) or b""
            return Frame(header, payload, fds)
        except BaseException:
            for fd in fds:
                os.close(fd)
            raise

    def __iter__(self) -> Iterator[Frame]:
        while (frame := self.receive()) is not None:
            yield frame

    def _read(self, size: int, fds: list[int], at_start: bool = False) -> bytes | None:
        data = bytearray()
        while len(data) < size:
            space = socket.CMSG_SPACE(DESCRIPTORS * array.array("i").itemsize)
            chunk, ancillary, flags, _ = self._socket.recvmsg(
                min(size - len(data), 1 << 20), space, socket.MSG_CMSG_CLOEXEC
            )
            for level, kind, raw in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    numbers = array.array("i")
                    numbers.frombytes(raw[: len(raw) - len(raw) % numbers.itemsize])
                    unexpected = not at_start or data
                    fds.extend(numbers)
                    if unexpected:
                        raise FrameError("descriptors came in the middle of a frame")
            if flags & socket.MSG_CTRUNC:
                raise FrameError("more descriptors than the cap")
            if not chunk:
                if at_start and not data:
                    return None
                raise FrameError("the stream ended inside a frame")
            data += chunk
        return bytes(data)

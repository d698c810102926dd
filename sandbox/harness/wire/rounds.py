"""Defines the direct connection between the judge and a candidate of the host tier. The judge sends
rounds of new inputs over this connection. The messages are short, because their transfer is part of
the time that the judge measures.

    judge                                            candidate
    line = JudgeLine(socket)                         line = CandidateLine(socket)
    line.go(Go(sets, size), fd)       -- GO, fd -->  go, fd = line.wait()
    line.wait_done(deadline)          <--  D  -----  line.done()
    line.finish()                     -- END  ---->  line.wait() is None

A round has `sets` sets of arguments in one piece of shared memory. `lay_out` returns the layout of
a set; both processes compute it. The candidate answers a round with one byte. If the candidate
sends anything else, the judge raises RoundError and sends no more rounds."""

from __future__ import annotations

import array
import math
import select
import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.wire.tensors import aligned, dtype_from

_GO = struct.Struct("<4sIQ")
GO_MAGIC, END_MAGIC = b"GO01", b"END1"
DONE = b"D"
# The sets of a round with a candidate of an ablated run: the outputs, and the outputs without the
# results of kernels. Unless torch may compute, the last set has only one byte for each output, which
# is BY_KERNELS if the output does not depend on what torch computes.
ABLATED_SETS, ORIGIN_SETS = 2, 3
BY_KERNELS, OF_TORCH = 1, 2


class RoundError(Exception):
    """The candidate failed in a round. `how` is "ended", "late", "protocol" (an unexpected message)
    or "memory" (the candidate used too much memory). `others_bytes` belongs to "memory": it is what
    others than the judge, among them the candidate, held of the GPU's memory."""

    def __init__(self, how: str, message: str, others_bytes: int = 0) -> None:
        super().__init__(message)
        self.how = how
        self.others_bytes = others_bytes


@dataclass(frozen=True)
class Go:
    sets: int
    size: int  # size of the shared memory, in bytes


@dataclass(frozen=True)
class SetLayout:
    """The offsets of one set's tensors in bytes, relative to the start of the set."""

    inputs: dict[str, int]
    outputs: list[int | None]  # None if the output is an argument
    size: int


def lay_out(arguments: Sequence[dict[str, Any]], outputs: Sequence[dict[str, Any]]) -> SetLayout:
    """Returns the layout of a set. `arguments` and `outputs` have the form that they have in the
    `prepared` message (docs/reference/frames.md)."""
    offset = 0
    inputs: dict[str, int] = {}
    for wire in arguments:
        if wire["kind"] == "tensor":
            inputs[wire["name"]] = offset
            offset = aligned(offset + int(wire["nbytes"]))
    places: list[int | None] = []
    for output in outputs:
        places.append(None if output["from"] else offset)
        if not output["from"]:
            offset = aligned(
                offset + dtype_from(output["dtype"]).itemsize * math.prod(output["shape"])
            )
    return SetLayout(inputs, places, max(offset, 1))


class JudgeLine:
    """The judge's end of the connection. The judge is a trusted process. This object owns its
    socket."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._poll = select.poll()
        self._poll.register(sock, select.POLLIN | select.POLLHUP)

    def __enter__(self) -> JudgeLine:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def go(self, go: Go, fd: int) -> None:
        """Starts a round. Raises RoundError if the candidate has already sent something, or has
        ended."""
        if self._poll.poll(0):
            raise _unexpected(
                self._socket.recv(len(DONE)), "the candidate answered a round that had not begun"
            )
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))]
        try:
            self._socket.sendmsg([_GO.pack(GO_MAGIC, go.sets, go.size)], ancillary)
        except OSError as error:
            raise RoundError("ended", f"the candidate is gone: {error}") from error

    def wait_done(self, deadline: float) -> None:
        """Waits for the answer. `deadline` is in seconds of time.monotonic(). Raises RoundError."""
        if not self._poll.poll(max(0.0, deadline - time.monotonic()) * 1e3):
            raise RoundError("late", "the candidate did not answer a round in time")
        try:
            answer = self._socket.recv(len(DONE) + 1)
        except OSError as error:
            raise RoundError("ended", f"the candidate is gone: {error}") from error
        if answer != DONE:
            raise _unexpected(answer, "the candidate broke the protocol of rounds")

    def finish(self) -> None:
        """Ends the rounds of this case."""
        try:
            self._socket.sendall(_GO.pack(END_MAGIC, 0, 0))
        except OSError as error:
            raise RoundError("ended", f"the candidate is gone: {error}") from error


def _unexpected(answer: bytes, what: str) -> RoundError:
    return (
        RoundError("protocol", what)
        if answer
        else RoundError("ended", "the candidate ended before the judge had seen all rounds")
    )


class CandidateLine:
    """The candidate's end of the connection. The candidate is an untrusted process."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock

    def wait(self) -> tuple[Go, int] | None:
        """Waits for the next round. Returns the round and the descriptor of its memory, or None at
        the end of the case. The caller must close the descriptor."""
        data, ancillary, _, _ = self._socket.recvmsg(
            _GO.size, socket.CMSG_SPACE(array.array("i").itemsize), socket.MSG_CMSG_CLOEXEC
        )
        if len(data) != _GO.size:
            raise ConnectionError("the judge ended")
        magic, sets, size = _GO.unpack(data)
        if magic == END_MAGIC:
            return None
        numbers = array.array("i")
        numbers.frombytes(ancillary[0][2])
        return Go(sets, size), numbers[0]

    def done(self) -> None:
        self._socket.sendall(DONE)

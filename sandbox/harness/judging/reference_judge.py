"""The judge of a check. It judges one kernel by one reference that the same caller sent, and its
process then ends.

    status = serve(channel, frame)  # `frame` has the type `reference`

The process is a child of the zygote in a job jail, as a candidate is. From the moment it executes
the reference, nobody trusts it except the caller who sent the reference. It answers the requests of
a judge (judging/judge.py), and no other check, run or operator depends on its answers. An error of
the reference is a `judge_error` whose reason is `reference`."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any

import torch

from harness.entry.time_limit import TimeIsUp, TimeLimit
from harness.judging.judge import Judge
from harness.operator import Operator
from harness.operator.own_reference import OwnArgument, OwnReference, Reference, ReferenceFailed
from harness.wire.frames import Channel, Frame


def serve(channel: Channel, frame: Frame) -> int:
    """Answers requests until the supervisor closes the socket. Returns the exit status."""
    _discard_output()
    judge = ReferenceJudge(frame)
    channel.send({"type": "ready", "torch": torch.__version__, "device_name": judge.device_name})
    while (request := channel.receive()) is not None:
        judge.answer(channel, request)
    return 0


def _discard_output() -> None:
    """Discards what the reference prints, because nobody reads it, and a full pipe would block."""
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        os.dup2(null, stream.fileno())
    os.close(null)


class ReferenceJudge(Judge):
    """A judge with one operator (see the module's docstring)."""

    def __init__(self, frame: Frame) -> None:
        header = frame.header
        super().__init__(str(header["device"]))
        self._reference = Reference(
            str(header["entry"]),
            frame.payload.decode("utf-8", "replace"),
            tuple(_argument(wire) for wire in header["arguments"]),
            header["tolerance"],
        )
        self._wall_ms = int(header["wall_ms"])
        self._own: OwnReference | None = None
        self._limit = TimeLimit()

    def answer(self, channel: Channel, frame: Frame) -> None:
        self._limit.start(self._wall_ms)
        try:
            super().answer(channel, frame)
        except TimeIsUp as error:  # it came between two calls of the reference
            traceback.print_exc()
            channel.send(
                {
                    "type": "judge_error",
                    "job": frame.header.get("job"),
                    "message": f"timeout: {error}",
                    "reason": "reference",
                }
            )
        finally:
            self._limit.stop()

    def _operator(self, folder: str) -> Operator:
        if self._own is None:
            self._own = OwnReference(self._reference)
        return self._own

    def failure(self, error: Exception) -> dict[str, str]:
        if isinstance(error, ReferenceFailed):
            return {"message": str(error), "reason": "reference"}
        return super().failure(error)


def _argument(wire: dict[str, Any]) -> OwnArgument:
    texts = {
        key: str(wire[key])
        for key in ("name", "type", "dtype", "distribution", "low", "high", "value")
    }
    return OwnArgument(shape=tuple(str(size) for size in wire["shape"]), **texts)

"""Starts a judge as a separate process, connected by a socket, and provides a small operator."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch
from harness.wire.frames import Channel, Frame
from harness.wire.tensors import MappedFile, create_memfd, pack, span_view

MAIN = Path(__file__).resolve().parents[3] / "sandbox" / "harness" / "main.py"
SPEC = """
name = "axpy"
entry = "axpy"
signature = "axpy(a: float, x: Tensor, index: Tensor) -> tuple[Tensor, Tensor]"
[[arguments]]
name = "a"
type = "float"
[[arguments]]
name = "x"
type = "tensor"
dtype = "case"
shape = ["rows", "2*cols"]
role = "inout"
[[arguments]]
name = "index"
type = "tensor"
dtype = "int32"
shape = ["rows"]
role = "structural"
[[outputs]]
name = "x_after"
dtype = "case"
shape = ["rows", "2*cols"]
max_abs_error = 0.01
scale = 10
from = "x"
[[outputs]]
name = "count"
dtype = "int32"
shape = ["rows"]
max_abs_error = 0
"""
REFERENCE = """
import torch
from harness.operator import Case, Cost, Rng

def inputs(case, rng):
    rows, cols = case.axes["rows"], case.axes["cols"]
    x = rng.normal((2 * cols, rows), case.dtype).t()
    if case.distribution == "holes":
        x[0, 0], x[0, 1], x[1, 0] = float("nan"), float("inf"), -float("inf")
    return {"a": 2.0, "x": x, "index": rng.permutation(rows).to(torch.int32)}

def reference(a, x, index):
    return a * x, index + 1

def cost(case):
    rows, cols = case.axes["rows"], case.axes["cols"]
    return Cost(bytes=2 * rows * 2 * cols * case.dtype.itemsize + 8 * rows, flops=2 * rows * cols)
"""
ORACLE = "import torch\n\n\ndef axpy(a, x, index):\n    x.mul_(a)\n    return index + 1\n"


def write_operator(
    folder: Path, spec: str = SPEC, reference: str = REFERENCE, oracle: str = ORACLE
) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "spec.toml").write_text(spec)
    (folder / "reference.py").write_text(reference)
    (folder / "oracle.py").write_text(oracle)
    return folder


def answer_of(channel: Channel) -> Frame:
    """Returns the answer to a request, without the messages that a case is begun."""
    while (reply := channel.receive()) is not None and reply.type == "begun":
        pass
    assert reply is not None
    return reply


class JudgeClient:
    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        command = [
            sys.executable,
            str(MAIN),
            "judge",
            "--socket-fd",
            str(theirs.fileno()),
            "--device",
            "cpu",
        ]
        self.process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], stderr=subprocess.DEVNULL
        )
        theirs.close()
        self.channel = Channel(ours)
        ready = self.channel.receive()
        assert ready is not None and ready.type == "ready"
        self.ready = ready.header

    def ask(self, header: dict[str, Any], fds: list[int] | None = None) -> Frame:
        self.channel.send(header, fds=fds or [])
        return answer_of(self.channel)

    def prepare(self, folder: Path, job: str = "job_1", **changes: Any) -> Frame:
        case = {
            "id": "small",
            "axes": {"rows": 4, "cols": 3},
            "dtype": "float32",
            "distribution": "normal",
            **changes.pop("case", {}),
        }
        return self.ask(
            {
                "type": "prepare",
                "job": job,
                "operator_dir": str(folder),
                "device": "cpu",
                "cases": [case],
                **changes,
            }
        )

    def compare(self, outputs: list[torch.Tensor], job: str = "job_1") -> dict[str, Any]:
        wires, fd = file_of(outputs)
        header = self.ask(
            {"type": "compare", "job": job, "case": "small", "outputs": wires}, [fd]
        ).header
        os.close(fd)
        return header

    def attribute(self, outputs: list[torch.Tensor], without: list[torch.Tensor]) -> dict[str, Any]:
        (wires, fd), (others, other_fd) = file_of(outputs), file_of(without)
        request = {
            "type": "attribute",
            "job": "job_1",
            "case": "small",
            "outputs": wires,
            "without": others,
        }
        header = self.ask(request, [fd, other_fd]).header
        os.close(fd)
        os.close(other_fd)
        return header


def file_of(outputs: list[torch.Tensor]) -> tuple[list[dict[str, Any]], int]:
    """Returns the descriptors of the outputs, and the memfd that contains the outputs."""
    wires, size = pack([(f"o{i}", tensor) for i, tensor in enumerate(outputs)])
    fd = create_memfd("outputs", size)
    for tensor, wire in zip(outputs, wires, strict=True):
        os.pwrite(fd, span_view(tensor).numpy().tobytes(), wire["offset"])
    return wires, fd


def prepared_inputs(frame: Frame) -> dict[str, torch.Tensor]:
    (case,) = frame.header["cases"]
    with MappedFile(frame.fds[case["input_fd"]], writable=False) as memory:
        return {
            wire["name"]: memory.tensor(wire).clone()
            for wire in case["arguments"]
            if wire.get("fd") == case["input_fd"]
        }


def right_answer(frame: Frame) -> list[torch.Tensor]:
    inputs = prepared_inputs(frame)
    return [2.0 * inputs["x"], inputs["index"] + 1]

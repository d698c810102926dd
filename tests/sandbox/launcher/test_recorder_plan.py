"""Tests that the recorder's encoder and the launcher's reader agree: a plan that Python has written
runs in the real launcher process.

The tests use build/release/bin/assay-launcher, or the program that `ASSAY_LAUNCHER` names."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.recording.plan import (
    Alternative,
    Binary,
    BufferKind,
    Choice,
    Copy,
    Fill,
    GlobalScratch,
    Kernel,
    Null,
    Output,
    Plan,
    Pointer,
    Scalar,
    TensorMap,
)
from harness.wire.frames import Channel

ROOT = Path(__file__).resolve().parent.parent.parent.parent
LAUNCHER = os.environ.get("ASSAY_LAUNCHER", str(ROOT / "build/release/bin/assay-launcher"))
TINY_ELF = b"\x7fELF\x02\x01" + bytes(58)
F_ADD_SEALS, SEAL_SHRINK = 1033, 2
COUNT = 100


@pytest.fixture
def launcher() -> Iterator[Channel]:
    ours, theirs = socket.socketpair()
    command = [
        LAUNCHER,
        "--socket-fd",
        str(theirs.fileno()),
        "--device",
        "cuda:0",
        "--driver",
        "fake",
    ]
    with subprocess.Popen(command, pass_fds=[theirs.fileno()]) as process:
        theirs.close()
        channel = Channel(ours)
        ready = channel.receive()
        assert ready is not None and ready.type == "ready"
        yield channel
        channel.close()
        assert process.wait(timeout=120) == 0


def memfd(data: bytes) -> int:
    fd = os.memfd_create("test", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    os.write(fd, data)
    fcntl.fcntl(fd, F_ADD_SEALS, SEAL_SHRINK)
    return fd


def launch(
    channel: Channel, plan: Plan, inputs: bytes, sizes: dict[str, int]
) -> tuple[dict[str, object], bytes]:
    """Launches a plan. Returns the header of the answer, and the output memory. In `inputs`, the
    inputs are stored one after the other."""
    fds = [memfd(inputs), memfd(bytes(4096))]
    wires, offset = [], 0
    for name, size in sizes.items():
        wires.append({"name": name, "fd": 0, "offset": offset, "nbytes": size, "inout": False})
        offset += size
    header = {
        "type": "launch",
        "case": "c",
        "inputs": wires,
        "output_fd": 1,
        "output_offset": 0,
        "output_bytes": 4096,
        "device_bytes": 0,
        "ablated": False,
        "time": False,
        "gpu_memory_bytes": 1 << 24,
    }
    try:
        channel.send(header, plan.encode(), fds)
        answer = channel.receive()
        assert answer is not None
        return answer.header, os.pread(fds[1], 4096, 0)
    finally:
        for fd in fds:
            os.close(fd)


def test_a_recorded_plan_is_replayed(launcher: Channel) -> None:
    plan = Plan("cuda:90")
    size = 4 * COUNT
    x, y = plan.buffer(BufferKind.INPUT, size, "x"), plan.buffer(BufferKind.INPUT, size, "y")
    out = plan.buffer(BufferKind.SCRATCH, size)
    ones = plan.buffer(BufferKind.CONSTANT, 8, constant=struct.pack("<2f", 1.0, 1.0))
    plan.binaries = [Binary("fake_vector_add", 0, TINY_ELF), Binary("unknown_kernel", 99, TINY_ELF)]
    add = [Pointer(x, 0), Pointer(y, 0), Pointer(out, 0), Scalar(4, COUNT)]
    scratch = [GlobalScratch(128, 128), Null(), Scalar(8, 2**64 - 1)]
    plan.ops = [
        Fill(out, 0, COUNT, 4, 0),
        Kernel(0, (1, 1, 1), (128, 1, 1), (1, 1, 1), 0, add),
        Kernel(1, (4, 2, 1), (32, 1, 1), (2, 1, 1), 3, scratch),
        Copy(out, 8, ones, 0, 8),
    ]
    plan.outputs = [
        Output(out, 0, "float32", [COUNT], [1]),
        Output(out, 4, "float32", [2, 2], [2, 1]),
    ]
    values = [float(i) for i in range(COUNT)]
    header, memory = launch(
        launcher, plan, struct.pack(f"<{COUNT}f", *values) * 2, {"x": size, "y": size}
    )
    assert header["type"] == "launched", header
    sums = [2 * value for value in values]
    sums[2:4] = [1.0, 1.0]
    assert list(struct.unpack_from(f"<{COUNT}f", memory, 0)) == sums
    assert list(struct.unpack_from("<4f", memory, 512)) == sums[1:5]
    kernels = header["kernels"]
    assert isinstance(kernels, list)
    assert [(kernel["name"], kernel["launches"], kernel["shared_bytes"]) for kernel in kernels] == [
        ("fake_vector_add", 1, 0),
        ("unknown_kernel", 1, 99),
    ]


def choosing_plan() -> Plan:
    """Returns a plan that computes x + y with one of two alternatives, and then launches a kernel
    that gets x as a tensor map."""
    plan = Plan("cuda:90")
    size = 4 * COUNT
    x, y = plan.buffer(BufferKind.INPUT, size, "x"), plan.buffer(BufferKind.INPUT, size, "y")
    out = plan.buffer(BufferKind.SCRATCH, size)
    plan.binaries = [Binary("fake_vector_add", 0, TINY_ELF), Binary("unknown_kernel", 0, TINY_ELF)]
    add = Kernel(
        0,
        (1, 1, 1),
        (128, 1, 1),
        (1, 1, 1),
        0,
        [Pointer(x, 0), Pointer(y, 0), Pointer(out, 0), Scalar(4, COUNT)],
    )
    described = TensorMap(x, 0, 7, 1, True, [20, 5], [80], [8, 2])
    plan.ops = [
        Choice(
            3,
            [
                Alternative("as it is", [add]),
                Alternative("after a fill", [Fill(out, 0, COUNT, 4, 0), add]),
            ],
        ),
        Kernel(1, (1, 1, 1), (32, 1, 1), (1, 1, 1), 0, [described]),
    ]
    plan.outputs = [Output(out, 0, "float32", [COUNT], [1])]
    return plan


def test_choices_and_tensor_maps_arrive(launcher: Channel) -> None:
    values = [float(i) for i in range(COUNT)]
    header, memory = launch(
        launcher,
        choosing_plan(),
        struct.pack(f"<{COUNT}f", *values) * 2,
        {"x": 4 * COUNT, "y": 4 * COUNT},
    )
    assert header["type"] == "launched", header
    assert header["choices"] == ["as it is"]
    assert list(struct.unpack_from(f"<{COUNT}f", memory, 0)) == [2 * value for value in values]


def test_a_plan_without_outputs_is_refused(launcher: Channel) -> None:
    header, _ = launch(launcher, Plan("cuda:90"), b"", {})
    assert (header["kind"], header["message"]) == ("invalid_plan", "outputs: there is none")

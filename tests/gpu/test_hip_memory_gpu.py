"""Shares GPU memory through the judge's calls of HIP, over the stand-in library that passes HIP's calls
on to CUDA (tests/hip_over_cuda), on an NVIDIA GPU.

    ninja -C build/release hip_over_cuda assay-launcher-hip-over-cuda
    pytest tests/gpu/test_hip_memory_gpu.py"""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest
import torch
import triton
from harness.judging.shared_buffers import SharedBuffers
from harness.recording.plan import Binary, BufferKind, Kernel, Output, Plan, Pointer, Scalar
from harness.wire import device_memory
from harness.wire.device_memory import DeviceMemory
from harness.wire.driver_api import DriverApi
from harness.wire.frames import Channel, Frame
from harness.wire.tensors import aligned

pytestmark = pytest.mark.gpu
ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("ASSAY_BUILD", str(ROOT / "build/release")))
STAND_IN = BUILD / "hip_over_cuda/libamdhip64.so.7"
LAUNCHER = BUILD / "bin/assay-launcher-hip-over-cuda"
PTXAS = Path(triton.__file__).parent / "backends/nvidia/bin/ptxas"
BYTES = 3 << 20
COUNT, BLOCK = 100_003, 128
# The judge places each tensor at a multiple of ALIGNMENT bytes.
PLACE = aligned(4 * COUNT)
ADD = """
.version 7.8
.target sm_80
.address_size 64
.visible .entry add(.param .u64 px, .param .u64 py, .param .u64 po, .param .u32 pn) {
  .reg .pred %p; .reg .b32 %r<5>; .reg .f32 %f<4>; .reg .b64 %d<5>;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;
  ld.param.u32 %r4, [pn]; setp.ge.u32 %p, %r1, %r4; @%p bra done;
  mul.wide.u32 %d4, %r1, 4;
  ld.param.u64 %d1, [px]; add.u64 %d1, %d1, %d4; ld.global.f32 %f1, [%d1];
  ld.param.u64 %d2, [py]; add.u64 %d2, %d2, %d4; ld.global.f32 %f2, [%d2];
  ld.param.u64 %d3, [po]; add.u64 %d3, %d3, %d4; add.f32 %f3, %f1, %f2; st.global.f32 [%d3], %f3;
done: ret;
}
"""


@pytest.fixture(autouse=True)
def over_hip(monkeypatch: pytest.MonkeyPatch) -> None:
    assert STAND_IN.exists(), f"{STAND_IN} is not built; ninja builds hip_over_cuda"
    api = DriverApi(str(STAND_IN), "hip")
    monkeypatch.setattr(device_memory, "driver_api", lambda: api)


def test_two_mappings_of_one_memory_have_the_same_content() -> None:
    device = torch.device("cuda:0")
    ours = DeviceMemory.create(device, BYTES)
    fd = ours.handle()
    theirs = DeviceMemory.attach(device, fd, ours.size)
    os.close(fd)
    try:
        assert ours.size >= BYTES and ours.bytes.data_ptr() != theirs.bytes.data_ptr()
        ours.bytes[:BYTES].copy_(torch.arange(BYTES, device=device).to(torch.uint8))
        torch.cuda.synchronize(device)
        assert torch.equal(ours.bytes[:BYTES], theirs.bytes[:BYTES])
    finally:
        theirs.free()
        ours.free()


def test_the_judges_buffers_grow() -> None:
    buffers = SharedBuffers(torch.device("cuda:0"))
    room = buffers.room(BYTES)
    assert room.numel() >= BYTES
    room.fill_(7)
    assert int(room.to(torch.int64).sum()) == 7 * room.numel()
    buffers.free()


def assembled(text: str, architecture: int, folder: Path) -> bytes:
    source, cubin = folder / "kernel.ptx", folder / "kernel.cubin"
    source.write_text(text)
    command = [str(PTXAS), f"--gpu-name=sm_{architecture}", "-o", str(cubin), str(source)]
    subprocess.run(command, check=True)
    return cubin.read_bytes()


def sum_plan(architecture: int, folder: Path) -> Plan:
    plan = Plan(f"cuda:{architecture}")
    x, y, out = (
        plan.buffer(BufferKind.INPUT, 4 * COUNT, "x"),
        plan.buffer(BufferKind.INPUT, 4 * COUNT, "y"),
        plan.buffer(BufferKind.SCRATCH, 4 * COUNT),
    )
    plan.binaries = [Binary("add", 0, assembled(ADD, architecture, folder))]
    add = [Pointer(x, 0), Pointer(y, 0), Pointer(out, 0), Scalar(4, COUNT)]
    grid = ((COUNT + BLOCK - 1) // BLOCK, 1, 1)
    plan.ops = [Kernel(0, grid, (BLOCK, 1, 1), (1, 1, 1), 0, add)]
    plan.outputs = [Output(out, 0, "float32", [COUNT], [1])]
    return plan


def test_the_launcher_performs_a_plan_on_memory_that_the_judge_made(tmp_path: Path) -> None:
    device = torch.device("cuda:0")
    major, minor = torch.cuda.get_device_capability(device)
    memory = DeviceMemory.create(device, 3 * PLACE)
    try:
        x, y, made = (
            memory.bytes[at : at + 4 * COUNT].view(torch.float32) for at in (0, PLACE, 2 * PLACE)
        )
        for values in (x, y, made):
            values.copy_(torch.rand(COUNT, device=device))
        wanted = x + y
        torch.cuda.synchronize(device)
        answer = performed(memory, sum_plan(10 * major + minor, tmp_path))
        assert answer.type == "launched", answer.header
        assert torch.equal(made, wanted)
    finally:
        memory.free()


def performed(memory: DeviceMemory, plan: Plan) -> Frame:
    """Lets a launcher with the HIP driver, in its jail, perform the plan on the memory."""
    fd = memory.handle()
    ours, theirs = socket.socketpair()
    command = [str(LAUNCHER), "--socket-fd", str(theirs.fileno()), "--device", "0"]
    with subprocess.Popen([*command, "--driver", "hip"], pass_fds=[theirs.fileno()]) as process:
        theirs.close()
        channel = Channel(ours)
        try:
            answer = _answered(channel, fd, memory, plan)
        finally:
            channel.close()  # so that the launcher ends
            os.close(fd)
        assert process.wait(timeout=20) == 0
    return answer


def _answered(channel: Channel, fd: int, memory: DeviceMemory, plan: Plan) -> Frame:
    ready = channel.receive()
    assert ready is not None and ready.type == "ready", ready
    inputs = [
        {"name": name, "fd": 0, "offset": at, "nbytes": 4 * COUNT, "inout": False}
        for name, at in (("x", 0), ("y", PLACE))
    ]
    header = {
        **{"type": "launch", "case": "c", "inputs": inputs, "ablated": False, "time": False},
        **{"output_fd": 0, "output_offset": 2 * PLACE, "output_bytes": 4 * COUNT},
        **{"device_bytes": memory.size, "gpu_memory_bytes": 1 << 28},
    }
    channel.send(header, plan.encode(), [fd])
    answer = channel.receive()
    assert answer is not None
    return answer

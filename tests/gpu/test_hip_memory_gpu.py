"""Shares GPU memory through the judge's calls of HIP, over the stand-in library that passes HIP's calls
on to CUDA (tests/hip_over_cuda), on an NVIDIA GPU.

    ninja -C build/release hip_over_cuda
    pytest tests/gpu/test_hip_memory_gpu.py"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from harness.judging.shared_buffers import SharedBuffers
from harness.wire import device_memory
from harness.wire.device_memory import DeviceMemory
from harness.wire.driver_api import DriverApi

pytestmark = pytest.mark.gpu
ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("ASSAY_BUILD", str(ROOT / "build/release")))
STAND_IN = BUILD / "hip_over_cuda/libamdhip64.so.7"
BYTES = 3 << 20


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

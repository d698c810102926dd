"""Tests the judge's half of shared memory over HIP without AMD hardware: Debian's library, and a
stand-in library over a fake CUDA driver (tests/hip_over_cuda), in which a file takes the place of
GPU memory. The real launcher maps the memory that the judge made."""

from __future__ import annotations

import ctypes
import mmap
import os
import socket
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from harness.recording.plan import Binary, BufferKind, Kernel, Output, Plan, Pointer, Scalar
from harness.wire import device_memory, driver_api
from harness.wire.device_memory import DeviceMemory
from harness.wire.driver_api import DriverApi, DriverError
from harness.wire.frames import Channel

ROOT = Path(__file__).resolve().parents[4]
BUILD = Path(os.environ.get("ASSAY_BUILD", str(ROOT / "build/release")))
LAUNCHER = BUILD / "bin/assay-launcher-hip-over-cuda"
STAND_IN = BUILD / "hip_over_cuda/libamdhip64.so.7"
FAKE_CUDA = BUILD / "hip_over_cuda/fake/libcuda.so.1"
DEBIANS = "libamdhip64.so.5"
CALLS = (
    *("MemCreate", "MemExportToShareableHandle", "MemImportFromShareableHandle", "MemRelease"),
    *("MemGetAllocationGranularity", "MemAddressReserve", "MemAddressFree", "MemMap", "MemUnmap"),
    *("MemSetAccess", "DriverGetVersion", "GetErrorName"),
)
COUNT = 1003

needs_stand_in = pytest.mark.skipif(
    torch.cuda.is_available() or not LAUNCHER.exists(),
    reason="a fake CUDA driver needs a machine without a GPU, and a build with clang",
)


def debians() -> ctypes.CDLL:
    try:
        return ctypes.CDLL(DEBIANS)
    except OSError:
        pytest.skip("there is no libamdhip64-5")


def test_the_real_library_has_each_call_and_an_old_one_is_refused_with_the_remedy() -> None:
    library = debians()
    for name in CALLS:
        assert hasattr(library, "hip" + name), name
    with pytest.raises(DriverError, match=r"HIP 5\.2 of .* ROCm 6\.0 or newer can"):
        DriverApi(DEBIANS, "hip")


def test_errors_of_the_real_library_have_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    debians()
    monkeypatch.setattr(driver_api, "OLDEST_HIP", 0)
    with pytest.raises(DriverError, match=r"hipMemRelease failed with hipError\w+ \(\d+\)"):
        DriverApi(DEBIANS, "hip").call("MemRelease", ctypes.c_void_p(0))
    with pytest.raises(DriverError, match="lacks hipNoSuchCall"):
        DriverApi(DEBIANS, "hip").call("NoSuchCall")


def test_the_library_of_this_process_is_preferred(tmp_path: Path) -> None:
    maps = tmp_path / "maps"
    maps.write_text(
        "7f00-7f01 r-xp 00000000 00:00 1 /usr/lib/libc.so.6\n"
        "7f02-7f03 r-xp 00000000 00:00 2 /home/u/rocm/torch/lib/libamdhip64.so\n"
    )
    path = driver_api.loaded_library("libamdhip64.so", maps)
    assert path == "/home/u/rocm/torch/lib/libamdhip64.so"
    assert driver_api.loaded_library("libother.so", maps) is None


@pytest.fixture(scope="module")
def hip() -> DriverApi:
    ctypes.CDLL(str(FAKE_CUDA))  # the stand-in finds the library that is loaded already
    return DriverApi(str(STAND_IN), "hip")


@pytest.fixture
def memory(hip: DriverApi, monkeypatch: pytest.MonkeyPatch) -> Iterator[DeviceMemory]:
    monkeypatch.setattr(device_memory, "driver_api", lambda: hip)
    # The address is one of the fake GPU, so torch cannot use it.
    monkeypatch.setattr(device_memory, "_tensor", lambda *_: torch.empty(0, dtype=torch.uint8))
    made = DeviceMemory.create(torch.device("cpu"), 12 * COUNT)
    yield made
    made.free()
    assert made.size == 0


@needs_stand_in
def test_the_launcher_performs_a_plan_on_memory_that_the_judge_made(memory: DeviceMemory) -> None:
    assert memory.size % (64 << 10) == 0
    plan = Plan("cuda:90")
    x, y, out = (
        plan.buffer(BufferKind.INPUT, 4 * COUNT, "x"),
        plan.buffer(BufferKind.INPUT, 4 * COUNT, "y"),
        plan.buffer(BufferKind.SCRATCH, 4 * COUNT),
    )
    plan.binaries = [Binary("fake_vector_add", 0, b"\x7fELF\x02\x01" + bytes(58))]
    add = [Pointer(x, 0), Pointer(y, 0), Pointer(out, 0), Scalar(4, COUNT)]
    plan.ops = [Kernel(0, (1, 1, 1), (128, 1, 1), (1, 1, 1), 0, add)]
    plan.outputs = [Output(out, 0, "float32", [COUNT], [1])]
    fd = memory.handle()
    shared = mmap.mmap(fd, memory.size)
    shared[: 8 * COUNT] = struct.pack(f"<{2 * COUNT}f", *range(COUNT), *([0.5] * COUNT))
    ours, theirs = socket.socketpair()
    command = [str(LAUNCHER), "--socket-fd", str(theirs.fileno()), "--device", "0"]
    with subprocess.Popen(
        [*command, "--driver", "hip"],
        pass_fds=[theirs.fileno()],
        env={**os.environ, "LD_LIBRARY_PATH": str(FAKE_CUDA.parent)},
    ) as process:
        theirs.close()
        channel = Channel(ours)
        ready = channel.receive()
        assert ready is not None and ready.type == "ready"
        inputs = [
            {"name": name, "fd": 0, "offset": at, "nbytes": 4 * COUNT, "inout": False}
            for name, at in (("x", 0), ("y", 4 * COUNT))
        ]
        header = {
            **{"type": "launch", "case": "c", "inputs": inputs, "ablated": False, "time": False},
            **{"output_fd": 0, "output_offset": 8 * COUNT, "output_bytes": 4 * COUNT},
            **{"device_bytes": memory.size, "gpu_memory_bytes": 1 << 24},
        }
        channel.send(header, plan.encode(), [fd])
        answer = channel.receive()
        channel.close()
        assert process.wait(timeout=120) == 0
    os.close(fd)
    assert answer is not None and answer.type == "launched", answer
    sums = struct.unpack_from(f"<{COUNT}f", shared, 8 * COUNT)
    assert sums == tuple(value + 0.5 for value in range(COUNT))


@needs_stand_in
def test_memory_of_another_process_is_mapped(memory: DeviceMemory) -> None:
    fd = memory.handle()
    theirs = DeviceMemory.attach(torch.device("cpu"), fd, memory.size)
    os.close(fd)
    assert theirs.size == memory.size
    theirs.free()


def test_a_descriptor_has_the_form_that_the_version_expects() -> None:
    api = DriverApi.__new__(DriverApi)
    api._prefix, api._version = "hip", driver_api.FIRST_DESCRIPTOR_BY_VALUE
    assert api.descriptor(7).value == 7
    api._version -= 1
    assert api.descriptor(7)._obj.value == 7
    api._prefix = "cu"
    assert api.descriptor(7).value == 7

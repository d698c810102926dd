"""Tests CUDA C++ with the real compiler: each test decodes the plan of a case."""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from harness.cuda_cpp.nvrtc import Nvrtc
from harness.cuda_cpp.runner import CudaCppRunner

sys.path.insert(0, str(Path(__file__).parent))

from cuda_cases import COPY, X, case, launch, record


@pytest.mark.parametrize("target", ["cuda:80", "cuda:90", "cuda:100"])
def test_a_template_is_compiled_and_launched(target: str) -> None:
    header, plan = record(COPY, case({"x": X}, {"y": X}), target)
    assert plan["target"] == target
    (report,) = header["kernels"]
    assert report["name"] == "copy<__half>"
    assert (report["grid"], report["num_warps"], report["launches"], report["shared_bytes"]) == (
        [4, 1, 1],
        2,
        1,
        0,
    )
    assert 4 <= report["registers"] <= 64
    assert report["binary_bytes"] > 500
    (binary,) = plan["binaries"]
    assert binary["image"].startswith(b"\x7fELF")
    assert "copy" in binary["kernel"]
    assert [(one["kind"], one["bytes"], one["name"]) for one in plan["buffers"]] == [
        ("input", 480, "x"),
        ("scratch", 480, ""),
    ]
    (op,) = plan["ops"]
    assert (op["grid"], op["block"], op["cluster"], op["flags"]) == (
        (4, 1, 1),
        (64, 1, 1),
        (1, 1, 1),
        0,
    )
    assert op["params"] == [("pointer", 0, 0), ("pointer", 1, 0), ("scalar", 4, 240)]
    (output,) = plan["outputs"]
    assert (output["buffer"], output["dtype"], output["shape"], output["strides"]) == (
        1,
        "float16",
        (6, 40),
        (40, 1),
    )


def test_scratch_fills_sizes_defines_conditions_and_rounds() -> None:
    source = """/* assay
[sizes]
half = "rows // 2"
[scratch.part]
dtype = "float32"
shape = ["half", 4]
[fill]
y = 1.5
part = -1
[defines]
COLS = "cols"
[[launch]]
kernel = "first"
grid = ["half", 2, 3]
block = [8, 4]
args = ["x", "part[4 * half - 1]", "null"]
when = "rows > 100"
[[launch]]
kernel = "second"
grid = "rows"
block = 32
shared = "1024 * (round + 1)"
repeat = "half"
cooperative = true
args = ["part[round]", "y", "round", "alpha", "flag"]
[[launch]]
kernel = "first"
grid = "rows - 6"
block = 1
args = ["x", "part", "null"]
*/
#if COLS != 40
#error COLS
#endif
extern "C" __global__ void first(const void* x, float* part, int* p) {}
extern "C" __global__ void second(float* part, float* y, long long round, double alpha, bool flag) { y[round] = alpha; }
"""
    one = case(
        {"x": X, "alpha": 0.25, "flag": True}, {"y": torch.empty(6)}, {"rows": 6, "cols": 40}
    )
    header, plan = record(source, one)
    fills, launches = plan["ops"][:2], plan["ops"][2:]
    assert [(fill["buffer"], fill["offset"], fill["count"], fill["width"]) for fill in fills] == [
        (1, 0, 6, 4),
        (2, 0, 12, 4),
    ]
    assert [struct.unpack("<f", struct.pack("<I", fill["pattern"]))[0] for fill in fills] == [
        1.5,
        -1.0,
    ]
    # All three launches come from the second [[launch]] table, which is repeated. The condition of
    # the first table is false, and the grid of the third table has no blocks.
    assert len(launches) == 3
    assert [plan["binaries"][one["binary"]]["shared"] for one in launches] == [1024, 2048, 3072]
    assert {one["flags"] for one in launches} == {1}
    quarter = struct.unpack("<Q", struct.pack("<d", 0.25))[0]
    assert launches[2]["params"] == [
        ("pointer", 2, 8),
        ("pointer", 1, 0),
        ("scalar", 8, 2),
        ("scalar", 8, quarter),
        ("scalar", 1, 1),
    ]
    assert sum(kernel["launches"] for kernel in header["kernels"]) == 3


def test_outputs_in_place_are_their_arguments() -> None:
    source = launch("p[0] = 1;", '["p"]', parameters="float* p")
    _, plan = record(source, case({"p": torch.empty(8)}, {"p": "p"}, inout=("p",)))
    assert len(plan["buffers"]) == 1
    assert (plan["outputs"][0]["buffer"], plan["outputs"][0]["shape"]) == (0, (8,))


def test_half_and_bfloat16_by_value() -> None:
    parameters = "__half a, __nv_bfloat16 b, unsigned char c, short d, float e, int f, unsigned g, long long h"
    args = (
        '["0.5 : float16", "0.5 : bfloat16", "255", "-2 : int16", "1", "-1", 4294967295, "2 ** 40"]'
    )
    _, plan = record(
        launch(
            "", args, code="#include <cuda_fp16.h>\n#include <cuda_bf16.h>", parameters=parameters
        ),
        case({"x": X}, {"y": X}),
    )
    assert [one[1:] for one in plan["ops"][0]["params"]] == [
        (2, 0x3800), (2, 0x3F00), (1, 255), (2, 0xFFFE), (4, 0x3F800000), (4, 0xFFFFFFFF), (4, 0xFFFFFFFF), (8, 2**40),
    ]  # fmt: skip


def test_tensor_maps() -> None:
    source = launch(
        "",
        '[{ tensor_map = "x", box = [3, 8], swizzle = "64B", nan_outside = true }]',
        code="#include <cuda.h>",
        parameters="const __grid_constant__ CUtensorMap map",
    )
    _, plan = record(source, case({"x": X}, {"y": X}))
    ((kind, found),) = plan["ops"][0]["params"]
    assert (kind, found["type"], found["swizzle"], found["nan"]) == ("map", 6, 2, 1)
    assert (found["shape"], found["strides"], found["box"]) == ((40, 6), (80,), (8, 3))


@pytest.mark.parametrize("target", ["cuda:80", "cuda:90", "cuda:100"])
def test_static_shared_memory_and_local_memory_are_reported_per_kernel(target: str) -> None:
    source = """/* assay
[[launch]]
kernel = "plain"
grid = 1
block = 32
args = ["y"]
[[launch]]
kernel = "shared"
grid = 1
block = 32
shared = 100
args = ["y"]
*/
extern "C" __global__ void plain(float* y) { y[0] = 1; }
extern "C" __global__ void shared(float* y) {
  __shared__ float s[256];
  float local[100];
  for (int i = 0; i < 100; ++i) local[i] = y[i];
  s[threadIdx.x] = local[(int)y[0]];
  __syncthreads();
  y[threadIdx.x] = s[255 - threadIdx.x];
}
"""
    header, _ = record(source, case({"x": X}, {"y": torch.empty(256)}), target)
    plain, shared = header["kernels"]
    assert (plain["name"], plain["shared_bytes"], plain["spill_bytes"]) == ("plain", 0, 0)
    assert (shared["shared_bytes"], shared["spill_bytes"]) == (1124, 400)
    assert plain["registers"] < shared["registers"]


def test_empty_tensors_have_null_addresses() -> None:
    source = launch("", '["x", "y"]', parameters="const float* x, float* y")
    _, plan = record(source, case({"x": torch.empty(0)}, {"y": torch.empty(0, 3)}))
    assert plan["ops"][0]["params"] == [("null",), ("null",)]


def test_one_source_is_compiled_once_for_all_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []
    original = Nvrtc.compile

    def counted(self: Nvrtc, *arguments: Any) -> Any:
        compiled.append(arguments)
        return original(self, *arguments)

    monkeypatch.setattr(Nvrtc, "compile", counted)
    runner = CudaCppRunner("cuda:90")
    runner.load(COPY)
    for tensor in (X, torch.empty(3, 3, dtype=torch.float16), torch.empty(2)):
        runner.run_case(case({"x": tensor}, {"y": tensor}))
    assert [list(arguments[2]) for arguments in compiled] == [["copy<__half>"], ["copy<float>"]]
    assert [name for _, name, _ in runner.artifacts()] == ["copy<__half>", "copy<float>"]
    assert all(b".entry" in text for _, _, text in runner.artifacts())

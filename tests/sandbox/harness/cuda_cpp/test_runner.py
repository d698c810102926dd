"""CUDA C++ through the real compiler: the plan of a case, which is decoded again, and the reports
of mistakes."""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from harness.cuda_cpp.nvrtc import Nvrtc
from harness.cuda_cpp.runner import CudaCppRunner
from harness.entry.cases import CaseInput
from harness.entry.errors import CudaCompilationError, ManifestError, UnsupportedHere
from harness.wire.tensors import name_of, span_bytes

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from plan_reader import read_plan

X = torch.empty(6, 40, dtype=torch.float16)
COPY = """/* assay
[[launch]]
kernel = "copy<{x.dtype}>"
grid = "ceil_div(x.numel, 64)"
block = 64
args = ["x", "y", "x.numel"]
*/
#include <cuda_fp16.h>
template <class T> __global__ void copy(const T* x, T* y, int n) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) y[i] = x[i];
}
"""


def case(
    arguments: dict[str, Any],
    outputs: dict[str, Any],
    axes: dict[str, int] | None = None,
    inout: tuple[str, ...] = (),
) -> CaseInput:
    wires: list[dict[str, Any]] = []
    for name, value in arguments.items():
        if isinstance(value, torch.Tensor):
            shape, strides = list(value.shape), list(value.stride())
            nbytes = span_bytes(shape, strides, value.element_size())
            wire = {
                "kind": "tensor",
                "dtype": name_of(value.dtype),
                "shape": shape,
                "strides": strides,
                "offset": 0,
                "nbytes": nbytes,
            }
            wires.append({"name": name, **wire})
        else:
            wires.append(
                {"name": name, "kind": "scalar", "type": type(value).__name__, "value": value}
            )
    described = [
        {"name": name, "dtype": "float32", "shape": [], "from": value}
        if isinstance(value, str)
        else {"name": name, "dtype": name_of(value.dtype), "shape": list(value.shape), "from": None}
        for name, value in outputs.items()
    ]
    wire = {
        "id": "small",
        "arguments": wires,
        "outputs": len(outputs),
        "inout": list(inout),
        "output_tensors": described,
        "axes": axes or {},
    }
    return CaseInput(wire, [])


def record(source: str, one: CaseInput, target: str = "cuda:90") -> tuple[dict[str, Any], Any]:
    runner = CudaCppRunner(target)
    runner.load(source)
    header, payload = runner.run_case(one)
    return header, read_plan(payload)


def launch(
    body: str, args: str = "[]", extra: str = "", code: str = "", parameters: str = ""
) -> str:
    """Returns a source whose only kernel `k` has these parameters."""
    return (
        f'/* assay\n[[launch]]\nkernel = "k"\ngrid = 1\nblock = 32\nargs = {args}\n{extra}*/\n{code}\n'
        f'extern "C" __global__ void k({parameters}) {{ {body} }}\n'
    )


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
    assert len(launches) == 3  # the condition of the first is false, the last has no blocks
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


@pytest.mark.parametrize(
    ("source", "line", "says"),
    [
        (launch("int a = ;"), 9, "submission.cu(9): error: expected an expression"),
        (COPY.replace("copy<{x.dtype}>", "copi<{x.dtype}>"), 3, "copi"),
        (launch("").replace('kernel = "k"', 'kernel = "other"'), 3, "other"),
        (
            launch("", code="void other() {}").replace('kernel = "k"', 'kernel = "other"'),
            None,
            "other",
        ),
        (launch("", code="#include <vector>"), 8, "vector"),
        (launch("", code='#include "/etc/passwd"'), None, "error"),
        (launch("static_assert(sizeof(int) == 8);"), 9, "static"),
        (COPY.replace("copy<{x.dtype}>", "copy<{x.dtype}, 1>"), None, "copy"),
    ],
)
def test_the_compilers_refusals_are_reported(source: str, line: int | None, says: str) -> None:
    with pytest.raises(CudaCompilationError) as caught:
        record(source, case({"x": X}, {"y": X}))
    assert says in str(caught.value)
    if line is not None:
        assert caught.value.line == line, str(caught.value)


@pytest.mark.parametrize(
    ("source", "kind", "line", "says"),
    [
        (
            COPY.replace("ceil_div(x.numel, 64)", "ceil_div(rows, 64)"),
            "name_error",
            4,
            "launch 1 (copy<{x.dtype}>): grid: unknown name 'rows'",
        ),
        (
            COPY.replace("ceil_div(x.numel, 64)", "x.numel // (x.ndim - 2)"),
            "zero_division",
            4,
            "divided by zero",
        ),
        (
            COPY.replace("ceil_div(x.numel, 64)", "-1"),
            "value_error",
            4,
            "want an integer from 0 up",
        ),
        (
            COPY.replace("ceil_div(x.numel, 64)", "x.numel / 2"),
            "value_error",
            4,
            "120.0; want an integer",
        ),
        (
            COPY.replace("ceil_div(x.numel, 64)", "2 ** 40"),
            "value_error",
            4,
            "the limits are [2147483647, 65535, 65535]",
        ),
        (
            COPY.replace("block = 64", "block = [64, 32]"),
            "value_error",
            5,
            "2048 threads; the limit is 1024",
        ),
        (COPY.replace("block = 64", "block = 0"), "value_error", 5, "want an integer from 1 up"),
        (
            COPY.replace('"x.numel"]', '"x.numel", 1]'),
            "type_error",
            6,
            "args has 4 entries; the kernel takes 3",
        ),
        (
            COPY.replace('"x.numel"]', "0.5]"),
            "type_error",
            6,
            "argument 2: (0.5) 0.5 is passed for a 32-bit integer",
        ),
        (
            COPY.replace('"x.numel"]', '"2 ** 40"]'),
            "value_error",
            6,
            "does not fit a 32-bit integer",
        ),
        (
            COPY.replace('"x.numel"]', '"1 : int64"]'),
            "type_error",
            6,
            "a int64 has 8 bytes; the kernel's parameter has 4",
        ),
        (COPY.replace('"x.numel"]', '"y"]'), "type_error", 6, "the kernel takes no pointer"),
        (
            COPY.replace('["x", ', '["x[241]", '),
            "index_error",
            6,
            "x has 240 elements; there is no [241]",
        ),
        (COPY.replace('["x", ', '["z", '), "name_error", 6, "unknown name 'z'"),
        (
            COPY.replace("{x.dtype}", "{x.shape[0] / 2}"),
            "type_error",
            3,
            "a template takes integers",
        ),
        (
            COPY.replace("args =", "repeat = 1000000000\nargs ="),
            "value_error",
            6,
            "1000000000 launches; one call has at most 16384",
        ),
        (COPY.replace("args =", 'repeat = "9 ** 9 ** 9"\nargs ='), "value_error", 6, "64 bits"),
        (
            COPY.replace("args =", "shared = 300000\nargs ="),
            "value_error",
            6,
            "300000 bytes of shared memory per block",
        ),
        (COPY.replace("args =", "cluster = 3\nargs ="), "value_error", 6, "not a multiple"),
        (
            COPY.replace("args =", "cluster = [8, 4]\nargs ="),
            "value_error",
            6,
            "32 blocks; the limit is 16",
        ),
        (
            COPY.replace("[[launch]]", "[fill]\nx = 0\n[[launch]]"),
            "value_error",
            3,
            "only outputs and scratch can be filled; valid: y",
        ),
        (
            COPY.replace("[[launch]]", "[sizes]\nx = 0\n[[launch]]"),
            "value_error",
            3,
            "the name x is taken",
        ),
        (
            COPY.replace(
                "[[launch]]",
                '[scratch.s]\ndtype = "int8"\nshape = ["2 ** 40", "2 ** 40"]\n[[launch]]',
            ),
            "value_error",
            2,
            "64 bits",
        ),
    ],
)
def test_mistakes_of_a_manifest(source: str, kind: str, line: int, says: str) -> None:
    with pytest.raises(ManifestError) as caught:
        record(source, case({"x": X}, {"y": X}))
    assert says in str(caught.value)
    assert (caught.value.kind, caught.value.line) == (kind, line)


def test_targets_that_nvrtc_does_not_compile_for() -> None:
    with pytest.raises(UnsupportedHere, match="cuda:80, cuda:90, cuda:100"):
        record(COPY, case({"x": X}, {"y": X}), "hip:gfx942")

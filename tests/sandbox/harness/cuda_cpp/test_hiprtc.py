"""Compiles HIP C++ submissions with the real hipRTC, without a GPU. Debian's hipRTC is of ROCm 5.2, so
it compiles for gfx90a and for no newer target. The tests that compile are skipped without hipRTC."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))

from cuda_cases import case, record
from harness.cuda_cpp import hiprtc
from harness.cuda_cpp.hiprtc import HipRtc, demangled, parameter_types
from harness.cuda_cpp.ptx import Parameter
from harness.entry.errors import CudaCompilationError, ManifestError, UnsupportedHere
from harness.recording import plan as plans
from harness.recording.code_object import read_code_object

X = torch.empty(6, 40, dtype=torch.float16)
TARGET = "hip:gfx90a"
SCALE = """/* assay
options = ["--fmad=false"]
[[launch]]
kernel = "scale<{x.dtype}, 64>"
grid = "ceil_div(x.numel, 64)"
block = 64
args = ["x", "y", "x.numel", 0.5, "s : float16"]
[sizes]
s = 2
[defines]
SHIFT = 3
*/
template <class T, int N> __global__ void scale(const T* x, T* y, int n, float a, __half s) {
  __shared__ float held[N];
  const int i = blockIdx.x * N + threadIdx.x;
  held[threadIdx.x] = a + SHIFT;
  __syncthreads();
  if (i < n) y[i] = x[i] * static_cast<T>(held[threadIdx.x]) * s;
}
"""


def has_hiprtc() -> bool:
    try:
        HipRtc.load()
    except UnsupportedHere:
        return False
    return True


needs_hiprtc = pytest.mark.skipif(not has_hiprtc(), reason="needs hipRTC (libamdhip64-5)")


def recorded(source: str, target: str = TARGET) -> tuple[dict[str, Any], Any]:
    return record(source, case({"x": X}, {"y": X}), target)


@needs_hiprtc
def test_a_manifest_becomes_a_plan_of_a_code_object() -> None:
    header, plan = recorded(SCALE)
    [kernel] = header["kernels"]
    assert kernel["name"] == "scale<__half, 64>"
    assert (kernel["target"], kernel["num_warps"]) == (TARGET, 1)
    assert kernel["registers"] > 0 and kernel["shared_bytes"] == 64 * 4
    (operation,) = plan["ops"]
    assert (operation["grid"], operation["block"]) == ((4, 1, 1), (64, 1, 1))
    assert operation["params"] == [
        ("pointer", 0, 0),
        ("pointer", 1, 0),
        ("scalar", 4, 240),
        ("scalar", 4, 0x3F000000),  # 0.5
        ("scalar", 2, 0x4000),  # 2 as float16
    ]
    code = read_code_object(plan["binaries"][0]["image"])
    assert code.target == TARGET
    sizes = [argument.size for argument in code.kernel(kernel["symbol"]).arguments]
    assert sizes == [8, 8, 4, 4, 2]


@needs_hiprtc
def test_a_cooperative_launch_is_recorded_as_one() -> None:
    _, plan = recorded(SCALE.replace("block = 64", "block = 64\ncooperative = true"))
    (operation,) = plan["ops"]
    assert operation["flags"] == plans.COOPERATIVE


@needs_hiprtc
def test_the_compilers_log_has_the_submissions_lines() -> None:
    broken = SCALE.replace("if (i < n)", "if (i < m)")
    line = next(number for number, text in enumerate(broken.split("\n"), 1) if "i < m" in text)
    with pytest.raises(CudaCompilationError) as caught:
        recorded(broken)
    assert caught.value.line == line
    assert f"submission.cu:{line}:" in str(caught.value) and "/tmp" not in str(caught.value)


@needs_hiprtc
@pytest.mark.parametrize(
    ("source", "error", "says"),
    [
        (SCALE.replace("block = 64", "block = 64\ncluster = 2"), ManifestError, "no clusters"),
        (
            SCALE.replace("block = 64", "block = 64\ndependent_launch = true"),
            ManifestError,
            "no dependent launches",
        ),
        (
            SCALE.replace('"y", "x.numel"', '{ tensor_map = "y", box = [1, 8] }, "x.numel"'),
            ManifestError,
            "no tensor maps",
        ),
        (SCALE.replace("--fmad=false", "--maxrregcount=32"), UnsupportedHere, "only for NVIDIA"),
        (
            SCALE.replace("__global__ void", "__global__ void __launch_bounds__(32)"),
            ManifestError,
            "compiled for at most 32",
        ),
        (
            SCALE.replace("  __syncthreads", '  printf("%d", i);\n  __syncthreads'),
            UnsupportedHere,
            "calls the host",
        ),
    ],
)
def test_what_amd_lacks_is_refused_by_name(source: str, error: type, says: str) -> None:
    with pytest.raises(error, match=says):
        recorded(source)


@needs_hiprtc
def test_an_old_hiprtc_is_refused_before_it_ends_the_process() -> None:
    if HipRtc.load().version >= (6, 0) or not HipRtc.load().version:
        pytest.skip("this hipRTC knows the target")
    with pytest.raises(UnsupportedHere, match=r"ROCm 6\.0 or newer knows the target"):
        recorded(SCALE, "hip:gfx942")


def test_without_hiprtc_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hiprtc, "LIBRARIES", ("libassay-no-such.so",))
    with pytest.raises(UnsupportedHere, match="install a PyTorch for ROCm"):
        HipRtc()


def test_types_come_from_the_mangled_name() -> None:
    name = demangled("_Z3addILi64EfEvPKT0_S2_PS0_if")
    assert parameter_types(name) == ["float const*", "float const*", "float*", "int", "float"]
    assert parameter_types("void f<g(int, h<1, 2>)>()") == []
    assert parameter_types("f(std::array<int, 4>, void (*)(int, int), bool)") == [
        "std::array<int, 4>",
        "void (*)(int, int)",
        "bool",
    ]
    with pytest.raises(CudaCompilationError, match='leave out extern "C"'):
        demangled("add")


@needs_hiprtc
def test_a_parameter_has_the_kind_of_its_type() -> None:
    source = "struct S { float a, b; };\n__global__ void f(unsigned* x, S s, double d, bool b, __half h) {}\n"
    program = HipRtc.load().compile(source, TARGET, ["f"], [])
    assert program.parameters(program.lowered["f"]) == [
        Parameter("integer", 8),
        Parameter("bytes", 8),
        Parameter("float", 8),
        Parameter("integer", 1),
        Parameter("bytes", 2),
    ]

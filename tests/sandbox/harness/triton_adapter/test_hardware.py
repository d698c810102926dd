"""Tests the interpreter's arithmetic where GPUs and numpy differ: NaN, libdevice, inline
assembly."""

from __future__ import annotations

import math
import os
import sys
from typing import Any

import pytest
import torch
from harness.triton_adapter.hardware import model_of

sys.path.insert(0, os.path.dirname(__file__))
from conftest import Supervisor

NAN, INF = math.nan, math.inf
HEAD = """
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra.cuda import libdevice as cuda_libdevice

"""


def source(expression: str) -> str:
    return f"""{HEAD}
@triton.jit
def kernel(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b = tl.load(x + i, mask=i < n, other=0.0), tl.load(y + i, mask=i < n, other=0.0)
    tl.store(z + i, {expression}, mask=i < n)

def f(x, y):
    z = torch.empty_like(x)
    kernel[(1,)](x, y, z, x.numel(), BLOCK=16)
    return z
"""


def run(supervisor: Supervisor, expression: str, x: list[float], y: list[float]) -> Any:
    arguments = {"x": torch.tensor(x), "y": torch.tensor(y)}
    return supervisor.run(source(expression), "f", [{"id": "a", "arguments": arguments}])


def value_of(supervisor: Supervisor, expression: str, x: list[float], y: list[float]) -> Any:
    report = run(supervisor, expression, x, y)
    assert "error" not in report.types(), report.error()
    return report.outputs["a"][0]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("tl.maximum(a, b)", [2.0, 2.0, NAN, 3.0]),
        ("tl.minimum(a, b)", [2.0, 2.0, NAN, -INF]),
        ("tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)", [NAN, NAN, NAN, 3.0]),
        ("tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)", [NAN, NAN, NAN, -INF]),
        ("tl.clamp(a, -1.0, 1.0)", [-1.0, 1.0, -1.0, 1.0]),
        ("tl.clamp(a, -1.0, 1.0, propagate_nan=tl.PropagateNan.ALL)", [NAN, 1.0, NAN, 1.0]),
        ("tl.where(a > 0, a, 0.0)", [0.0, 2.0, 0.0, 3.0]),
        ("a * 0 + tl.max(tl.where(i < n, a, -float('inf')))", [NAN, 3.0, NAN, 3.0]),
    ],
)
def test_nan_is_treated_as_on_a_gpu(
    supervisor: Supervisor, expression: str, expected: list[float]
) -> None:
    got = value_of(supervisor, expression, [NAN, 2.0, NAN, 3.0], [2.0, NAN, NAN, -INF])
    assert torch.equal(
        torch.nan_to_num(got, nan=99.0), torch.nan_to_num(torch.tensor(expected), nan=99.0)
    ), got


X, Y = [0.25, -0.75, 1.5, 2.5], [2.0, 0.5, -3.0, 1.25]


@pytest.mark.parametrize(
    ("expression", "torch_function"),
    [
        ("libdevice.erf(a)", lambda a, b: torch.erf(a)),
        ("cuda_libdevice.tanh(a)", lambda a, b: torch.tanh(a)),
        ("libdevice.pow(libdevice.abs(a), b)", lambda a, b: a.abs() ** b),
        ("libdevice.fast_expf(a)", lambda a, b: torch.exp(a)),
        ("libdevice.rsqrt(libdevice.abs(a))", lambda a, b: torch.rsqrt(a.abs())),
        ("libdevice.atan2(a, b)", torch.atan2),
        ("libdevice.fma(a, b, a)", lambda a, b: a * b + a),
        ("libdevice.round(a)", lambda a, b: torch.sign(a) * torch.floor(a.abs() + 0.5)),
        ("libdevice.rint(a)", lambda a, b: torch.round(a)),
        ("libdevice.lgamma(libdevice.abs(a))", lambda a, b: torch.lgamma(a.abs())),
        ("tl.where(libdevice.isnan(a), 1.0, libdevice.expm1(b))", lambda a, b: torch.expm1(b)),
    ],
)
def test_libdevice_gives_the_rounded_result(
    supervisor: Supervisor, expression: str, torch_function: Any
) -> None:
    got = value_of(supervisor, expression, X, Y)
    expected = torch_function(torch.tensor(X).double(), torch.tensor(Y).double()).float()
    assert torch.allclose(got, expected, rtol=3e-7, atol=0), (got, expected)


@pytest.mark.parametrize("swallowed", [False, True])
@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("libdevice.cyl_bessel_i0(a)", "__nv_cyl_bessel_i0f is a function of a device library"),
        (
            "tl.inline_asm_elementwise('add.f32 $0, $1, $2;', '=f,f,f', [a, b], dtype=tl.float32, is_pure=True, pack=1)",
            "tl.inline_asm_elementwise is machine code of a GPU",
        ),
    ],
)
def test_what_only_a_gpu_can_run_is_unsupported(
    supervisor: Supervisor, expression: str, text: str, swallowed: bool
) -> None:
    code = source(expression)
    if swallowed:
        launch = "    kernel[(1,)](x, y, z, x.numel(), BLOCK=16)\n"
        tried = launch.replace("    kernel", "        kernel")
        code = code.replace(launch, f"    try:\n{tried}    except Exception:\n        pass\n")
    arguments = {"x": torch.tensor(X), "y": torch.tensor(Y)}
    error = supervisor.run(code, "f", [{"id": "a", "arguments": arguments}]).error()
    assert error["kind"] == "unsupported" and text in error["message"], error
    assert error["message"].endswith("it needs a GPU")


def test_symbols_of_both_precisions_have_one_model() -> None:
    for name in ("erf", "pow", "rint", "fma"):
        assert model_of(f"__nv_{name}") is model_of(f"__nv_{name}f") is not None
    assert model_of("__nv_fast_expf") is model_of("__nv_exp")
    assert model_of("__nv_isnand") is model_of("__nv_isnanf") is not None
    for unknown in ("__nv_popc", "__nv_fadd_rd", "__nv_powif", "__nv_j0f", "__nv_", "f"):
        assert model_of(unknown) is None, unknown


def test_a_kernel_overflows_silently(supervisor: Supervisor) -> None:
    """On a GPU nothing is printed either. What the submission's own host code prints is kept."""
    own = source("tl.exp(a * 1e4) / (b - b)").replace(
        "def f(x, y):", "def f(x, y):\n    import numpy\n    numpy.float32(1e38) * 10"
    )
    arguments = {"x": torch.tensor([1.0]), "y": torch.tensor([2.0])}
    report = supervisor.run(own, "f", [{"id": "a", "arguments": arguments}])
    assert "error" not in report.types(), report.error()
    assert report.outputs["a"][0].isinf().all()
    assert report.stderr.count("RuntimeWarning") == 1 and "multiply" in report.stderr

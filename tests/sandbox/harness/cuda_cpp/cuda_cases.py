"""Provides cases and sources of CUDA C++, and their plans from the real compiler."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
from harness.cuda_cpp.runner import CudaCppRunner
from harness.entry.cases import CaseInput
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

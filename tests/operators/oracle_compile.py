"""Compiles every kernel that an oracle launches, for an NVIDIA target and without a GPU.

The oracle's own host code runs on meta tensors, so tile sizes, warps and stages are those it chooses for each case. `JITFunction.run` is
replaced by one that turns the launch into an ASTSource the way a launch would (specialisation included) and compiles it.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.experimental.gluon._runtime import GluonASTSource, GluonJITFunction
from triton.runtime.jit import JITFunction

TARGET = GPUTarget("cuda", 90, 32)
OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")
POINTERS = {
    torch.float32: "*fp32",
    torch.float16: "*fp16",
    torch.bfloat16: "*bf16",
    torch.int8: "*i8",
    torch.int32: "*i32",
    torch.int64: "*i64",
}
compiled: dict[str, dict[str, Any]] = {}


def type_of(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return POINTERS[value.dtype]
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, int):
        return "i32" if -(2**31) <= value < 2**31 else "i64"
    return "fp32"


def compile_launch(function: JITFunction[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    options = {k: kwargs.pop(k) for k in OPTIONS if k in kwargs}
    names = [p.name for p in function.params]
    values = dict(zip(names, args, strict=False)) | {k: v for k, v in kwargs.items() if k in names}
    constexpr = {p.name for p in function.params if p.is_constexpr}
    # Triton turns an integer argument of 1 into a constant.
    signature = {n: "constexpr" if n in constexpr or (type(values[n]) is int and values[n] == 1) else type_of(values[n]) for n in names}
    constants = {n: values[n] for n in names if signature[n] == "constexpr"}
    # Tensors come from an allocator, so their addresses are multiples of 16 unless a view starts elsewhere.
    aligned = {n for n in names if signature[n][0] == "*" or (signature[n] in ("i32", "i64") and values[n] % 16 == 0)}
    attrs = {(names.index(n),): [["tt.divisibility", 16]] for n in aligned}
    source_class = GluonASTSource if isinstance(function, GluonJITFunction) else ASTSource
    key = repr((function.__name__, signature, constants, sorted(aligned), options))
    if key not in compiled:
        kernel = triton.compile(source_class(function, signature, constants, attrs), target=TARGET, options=options)
        ptx = kernel.asm["ptx"]
        compiled[key] = {
            "kernel": function.__name__,
            "shared": kernel.metadata.shared,
            "cubin": len(kernel.asm["cubin"]),
            "mma": "wgmma" in ptx or "mma.sync" in ptx,
            "tf32": "tf32" in ptx,
            **options,
        }
    return compiled[key]


def check_compiled(folder: Path, spec: dict[str, Any], reference: ModuleType, oracle: ModuleType) -> None:
    launches: list[dict[str, Any]] = []

    def run(self: JITFunction[Any], *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> None:
        launches.append(compile_launch(self, args, dict(kwargs)) | {"grid": list(grid)})

    original = JITFunction.run
    JITFunction.run = run
    try:
        for row in spec["cases"]:
            launches.clear()
            getattr(oracle, spec["entry"])(**meta_arguments(spec, row))
            print(json.dumps({"operator": spec["name"], "case": row["id"], "launches": launches}), flush=True)
    finally:
        JITFunction.run = original


def meta_arguments(spec: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """Tensors without storage of the case's shapes; scalars that only steer arithmetic get a plain value."""
    from oracle_checks import extent

    scalars = {"max_length": row["axes"].get("max_length"), "vocab": row["axes"].get("vocab"), "step": 3}
    arguments: dict[str, Any] = {}
    for a in spec["arguments"]:
        if a["type"] == "tensor":
            dtype = getattr(torch, row["dtype"] if a["dtype"] == "case" else a["dtype"])
            arguments[a["name"]] = torch.empty([extent(x, row["axes"]) for x in a["shape"]], dtype=dtype, device="meta")
        else:
            arguments[a["name"]] = scalars[a["name"]] if a["type"] == "int" else 0.25
    return arguments

"""What to write instead of names that Triton and Python do not have. tests/sandbox/harness checks
that the names on the left do not exist and that the names on the right do.

    INSTEAD["tl"]["matmul"]  # "tl.dot(a, b, acc)"

A key of INSTEAD is the owner of the missing name (harness.entry.advice.owner_of): `tl` for the
module triton.language, `value` for a value in a kernel, `host` for a tensor in host code."""

from __future__ import annotations

_THREADS = "a program works on whole blocks: tl.program_id(axis) and tl.arange(0, BLOCK)"
_POINTER = "a kernel gets a pointer: pass sizes and strides as arguments of the kernel"
_LOAD = "tl.load(pointer + offsets, mask=mask, other=0.0)"
_STORE = "tl.store(pointer + offsets, value, mask=mask)"

INSTEAD: dict[str, dict[str, str]] = {
    "tl": {
        "tanh": "2 * tl.sigmoid(2 * x) - 1, or libdevice.tanh(x)",
        "round": "libdevice.rint(x), or tl.floor(x + 0.5)",
        "relu": "tl.where(x < 0, 0.0, x)",
        "leaky_relu": "tl.where(x < 0, slope * x, x)",
        "silu": "x * tl.sigmoid(x)",
        "swish": "x * tl.sigmoid(x)",
        "gelu": "0.5 * x * (1 + tl.erf(x * 0.7071067811865476))",
        "pow": "x * x, tl.exp2(y * tl.log2(x)) for x > 0, or libdevice.pow(x, y)",
        "power": "x * x, tl.exp2(y * tl.log2(x)) for x > 0, or libdevice.pow(x, y)",
        "square": "x * x",
        "reciprocal": "1.0 / x",
        "div": "x / y",
        "pointer": "the parameter without a type",
        "mod": "x % y",
        "matmul": "tl.dot(a, b, acc)",
        "mm": "tl.dot(a, b, acc)",
        "bmm": "tl.dot(a, b, acc)",
        "dot_product": "tl.sum(a * b, axis=0)",
        "mean": "tl.sum(x, axis=0) / n",
        "var": "mean = tl.sum(x, axis=0) / n, then tl.sum((x - mean) * (x - mean), axis=0) / n",
        "std": "tl.sqrt(tl.sum((x - mean) * (x - mean), axis=0) / n)",
        "any": "tl.max(x.to(tl.int32), axis=0)",
        "all": "tl.min(x.to(tl.int32), axis=0)",
        "transpose": "tl.trans(x)",
        "concat": "tl.cat(a, b, can_reorder=True) or tl.join(a, b)",
        "stack": "tl.join(a, b)",
        "squeeze": "tl.reshape(x, shape)",
        "unsqueeze": "tl.expand_dims(x, axis)",
        "clip": "tl.clamp(x, low, high)",
        "sign": "tl.where(x > 0, 1.0, tl.where(x < 0, -1.0, 0.0))",
        "isnan": "x != x",
        "isinf": 'tl.abs(x) == float("inf")',
        "inf": 'float("inf")',
        "nan": 'float("nan")',
        "pi": "3.141592653589793",
        "float": "tl.float32",
        "double": "tl.float64",
        "half": "tl.float16",
        "int": "tl.int32",
        "long": "tl.int64",
        "bool": "tl.int1",
        "ones": "tl.full(shape, 1.0, tl.float32)",
        "empty": "tl.zeros(shape, tl.float32)",
        "ones_like": "tl.full(x.shape, 1.0, x.dtype)",
        "load_block": _LOAD,
        "block_load": _LOAD,
        "store_block": _STORE,
        "block_store": _STORE,
        "program_index": "tl.program_id(0)",
        "block_id": "tl.program_id(0)",
        "thread_id": _THREADS,
        "thread_idx": _THREADS,
        "threadIdx": _THREADS,
        "blockIdx": _THREADS,
        "syncthreads": "tl.debug_barrier()",
        "barrier": "tl.debug_barrier()",
        "next_power_of_2": "triton.next_power_of_2(n) on the host",
        "log10": "tl.log(x) / 2.302585092994046",
        "log1p": "libdevice.log1p(x), or tl.log(1 + x)",
    },
    "triton": {
        "ceil_div": "triton.cdiv(n, BLOCK)",
        "next_pow2": "triton.next_power_of_2(n)",
    },
    "value": {
        "data_ptr": "the argument is a pointer already: tl.load(pointer + offsets, mask=mask)",
        "size": _POINTER,
        "stride": _POINTER,
        "numel": _POINTER,
        "dim": _POINTER,
        "item": "a value is used as it is, without item()",
        "float": "x.to(tl.float32)",
        "half": "x.to(tl.float16)",
        "int": "x.to(tl.int32)",
        "long": "x.to(tl.int64)",
        "transpose": "tl.trans(x)",
        "t": "tl.trans(x)",
        "mean": "tl.sum(x, axis=0) / n",
        "pow": "x * x, or tl.exp2(y * tl.log2(x)) for x > 0",
        "tanh": "2 * tl.sigmoid(2 * x) - 1",
        "clip": "tl.clamp(x, low, high)",
        "unsqueeze": "x[:, None]",
        "__pow__": "x * x for x**2, or tl.exp2(y * tl.log2(x)) for x > 0",
    },
}
# The import that defines a name which a source uses without importing it.
IMPORTS = {
    "torch": "import torch",
    "triton": "import triton",
    "tl": "import triton.language as tl",
    "math": "import math",
    "libdevice": "from triton.language.extra import libdevice",
}

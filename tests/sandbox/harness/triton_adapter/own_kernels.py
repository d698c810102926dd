"""Kernels that call functions of libdevice."""

import triton
import triton.language as tl
from triton.language.extra import libdevice

NAMES = ("one_function", "shared_tables", "several")


@triton.jit
def one_function(x, y, n, B: tl.constexpr):  # type: ignore[no-untyped-def]
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.rsqrt(tl.load(x + i, mask=i < n, other=1.0)), mask=i < n)


@triton.jit
def shared_tables(x, y, n, B: tl.constexpr):  # type: ignore[no-untyped-def]
    # The slow paths of both functions use one table and one helper.
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    wide = libdevice.sin(v.to(tl.float64)) + libdevice.cos(v.to(tl.float64))
    tl.store(y + i, libdevice.sin(v) + libdevice.cos(v) + wide.to(tl.float32), mask=i < n)


@triton.jit
def several(x, y, n, B: tl.constexpr):  # type: ignore[no-untyped-def]
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    w = libdevice.pow(libdevice.erf(v), 3.0) + libdevice.tanh(v) + libdevice.lgamma(v)
    tl.store(y + i, w + libdevice.log1p(v) + libdevice.fmod(v, 3.0), mask=i < n)

"""The first part of every submission: the case follows. It defines two honest kernels, so that a
case contains little more than its cheat."""

import torch
import triton
import triton.language as tl


@triton.jit
def _add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    total = tl.load(x + i, mask=m).to(tl.float32) + tl.load(y + i, mask=m).to(tl.float32)
    tl.store(z + i, total.to(z.dtype.element_ty), mask=m)


@triton.jit
def _copy(x, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n), mask=i < n)


def honest_add(x, y, z=None):
    z = torch.empty_like(x) if z is None else z
    _add[(triton.cdiv(x.numel(), 1024),)](x, y, z, x.numel(), BLOCK=1024)
    return z


def kernel_copy(x):
    z = torch.empty_like(x)
    _copy[(triton.cdiv(x.numel(), 1024),)](x, z, x.numel(), BLOCK=1024)
    return z


def found(what):
    """Raises an exception, because the cheat has found `what`. So the verdict cannot be a pass."""
    raise RuntimeError(f"found {what}")

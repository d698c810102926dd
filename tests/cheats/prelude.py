"""The first part of every submission of this suite; the case is the second part. It defines two
honest kernels, so that a case contains little more than its cheat. A case attacks the process that
executes it, so this part ends any process that is not a candidate."""

import sys

import torch
import triton
import triton.language as tl


def _is_candidate():
    """Returns whether this process is a candidate: it is a fork of the zygote, it cannot gain
    privileges, and its system calls are filtered."""
    with open("/proc/self/status", encoding="ascii") as status:
        facts = dict(line.split(":", 1) for line in status)
    return (
        "harness.candidate.candidate" in sys.modules
        and facts["NoNewPrivs"].strip() == "1"
        and facts["Seccomp"].strip() == "2"
    )


if not _is_candidate():
    raise SystemExit("this is a case of tests/cheats, which attacks what executes it: use a server")


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

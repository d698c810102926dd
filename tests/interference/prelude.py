"""The first part of every submission of these tests. The case is the second part. This file defines
an honest kernel, and functions that return what a submission can see of its inputs."""

import gc
import json
import os
import sys

import torch
import triton
import triton.language as tl

# The lengths of the public cases of vector_add.
PUBLIC_LENGTHS = (4112, 3, 1027, 2048, 1000003, 8388608)


@triton.jit
def add_kernel(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


def honest_add(x, y):
    z = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, z, x.numel(), BLOCK=1024)
    return z


@triton.jit
def poke_kernel(z, at, value):
    tl.store(z + at, value)


def poke(z, at, value):
    """Changes one element of z by a kernel."""
    poke_kernel[(1,)](z, at, value)
    return z


def is_hidden(x):
    return x.numel() not in PUBLIC_LENGTHS


def number(x):
    """Returns a number that differs between hidden cases."""
    return x.numel()


def tell(x):
    """Returns the length and the dtype of a case as text that can be part of a Python name."""
    return f"n{x.numel()}_{str(x.dtype)[6:]}"


def caller(name):
    """Returns the value of a local variable of a calling function. The harness calls the
    submission, so this can be a variable of the harness."""
    frame = sys._getframe()
    while frame is not None:
        if name in frame.f_locals:
            return frame.f_locals[name]
        frame = frame.f_back
    return None

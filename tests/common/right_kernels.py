"""Kernels that are right, for the operators of tests/common/mistakes.py."""

from __future__ import annotations

HEAD = "import torch, triton, triton.language as tl\n"

ADD = (
    HEAD
    + """
@triton.jit
def kernel(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    a = tl.load(x + i, mask=m)
    tl.store(z + i, a + tl.load(y + i, mask=m), mask=m)

def vector_add(x, y):
    z = torch.empty_like(x)
    n = x.numel()
    kernel[(triton.cdiv(n, 1024),)](x, y, z, n, BLOCK=1024)
    return z
"""
)
SOFTMAX = (
    HEAD
    + """
@triton.jit
def kernel(x, y, C, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    m = c < C
    v = tl.load(x + row * C + c, mask=m, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * C + c, e / tl.sum(e, axis=0), mask=m)

def softmax_last_dim(x):
    y = torch.empty_like(x)
    R, C = x.shape
    kernel[(R,)](x, y, C, BLOCK=triton.next_power_of_2(C))
    return y
"""
)
LAYER_NORM = (
    HEAD
    + """
@triton.jit
def kernel(x, w, b, y, C, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    m = c < C
    v = tl.load(x + row * C + c, mask=m, other=0.0)
    d = tl.where(m, v - tl.sum(v, axis=0) / C, 0.0)
    r = 1.0 / tl.sqrt(tl.sum(d * d, axis=0) / C + eps)
    out = d * r * tl.load(w + c, mask=m) + tl.load(b + c, mask=m)
    tl.store(y + row * C + c, out, mask=m)

def layer_norm_fwd(x, w, b, eps):
    y = torch.empty_like(x)
    R, C = x.shape
    kernel[(R,)](x, w, b, y, C, eps, BLOCK=triton.next_power_of_2(C))
    return y
"""
)
HISTOGRAM = (
    HEAD
    + """
@triton.jit
def kernel(x, counts, n, bins, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=-1)
    tl.atomic_add(counts + v, 1, mask=(v >= 0) & (v < bins))

def histogram_bins(x, bins):
    counts = torch.zeros(bins, dtype=torch.int32, device=x.device)
    n = x.numel()
    kernel[(triton.cdiv(n, 256),)](x, counts, n, bins, BLOCK=256)
    return counts
"""
)
NORM = (
    HEAD
    + """
@triton.jit
def kernel(x, total, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.atomic_add(total, tl.sum(v * v, axis=0))

@triton.jit
def root(total, y, n):
    tl.store(y, tl.sqrt(tl.load(total) / n))

def global_sq_norm(x):
    total = torch.zeros(1, dtype=torch.float32, device=x.device)
    y = torch.empty(1, dtype=torch.float32, device=x.device)
    n = x.numel()
    kernel[(triton.cdiv(n, 1024),)](x, total, n, BLOCK=1024)
    root[(1,)](total, y, n)
    return y
"""
)
RELU = (
    HEAD
    + """
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(y + i, tl.where(v < 0, 0.0, v), mask=i < n)

def relu(x):
    y = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
"""
)
MATMUL = (
    HEAD
    + """
@triton.jit
def kernel(a, b, c, M, N, K, B: tl.constexpr):
    m = tl.program_id(0) * B + tl.arange(0, B)
    n = tl.program_id(1) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for start in range(0, K, B):
        k = start + tl.arange(0, B)
        left = tl.load(a + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        right = tl.load(b + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(left, right, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float16), mask=(m[:, None] < M) & (n[None, :] < N))

def matmul_fp16(a, b):
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    kernel[(triton.cdiv(M, 64), triton.cdiv(N, 64))](a, b, c, M, N, K, B=64)
    return c
"""
)
RIGHT = {
    "vector_add": ADD,
    "softmax_last_dim": SOFTMAX,
    "layer_norm_fwd": LAYER_NORM,
    "histogram_bins": HISTOGRAM,
    "global_sq_norm": NORM,
    "relu": RELU,
    "matmul_fp16": MATMUL,
}

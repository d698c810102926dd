"""One tl.dot gives all pairs of squared distances, |a|^2 + |b|^2 - 2ab. They are clamped, because rounding can make them negative."""

import torch
import triton
import triton.language as tl


@triton.jit
def _distances_kernel(a_ptr, b_ptr, out_ptr, n, m, dims, TILE: tl.constexpr, DIMS: tl.constexpr):
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    j = tl.program_id(1) * TILE + tl.arange(0, TILE)
    k = tl.arange(0, DIMS)
    a = tl.load(
        a_ptr + i[:, None] * dims + k[None, :],
        mask=(i < n)[:, None] & (k < dims)[None, :],
        other=0.0,
    )
    b = tl.load(
        b_ptr + j[:, None] * dims + k[None, :],
        mask=(j < m)[:, None] & (k < dims)[None, :],
        other=0.0,
    )
    cross = tl.dot(a, tl.trans(b), input_precision="ieee")
    distance = tl.sum(a * a, axis=1)[:, None] + tl.sum(b * b, axis=1)[None, :] - 2.0 * cross
    inside = (i < n)[:, None] & (j < m)[None, :]
    tl.store(out_ptr + i[:, None] * m + j[None, :], tl.maximum(distance, 0.0), mask=inside)


def squared_distances(a, b):
    out = torch.empty((a.shape[0], b.shape[0]), device=a.device)
    dims = max(16, triton.next_power_of_2(a.shape[1]))
    grid = (triton.cdiv(a.shape[0], 16), triton.cdiv(b.shape[0], 16))
    _distances_kernel[grid](a, b, out, a.shape[0], b.shape[0], a.shape[1], TILE=16, DIMS=dims)
    return out


def check():
    a, b = torch.randn(20, 5), torch.randn(35, 5)
    torch.testing.assert_close(
        squared_distances(a, b), torch.cdist(a, b) ** 2, atol=1e-4, rtol=1e-4
    )

"""A loop keeps a minimum and its index with one comparison per step (the nearest of a few centres for each point)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _assign_kernel(point_ptr, centre_ptr, out_ptr, n, centres, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(point_ptr + at * 2, mask=at < n, other=0.0)
    y = tl.load(point_ptr + at * 2 + 1, mask=at < n, other=0.0)
    best = tl.full([BLOCK], float("inf"), tl.float32)
    which = tl.zeros([BLOCK], tl.int32)
    for k in range(centres):
        dx = x - tl.load(centre_ptr + k * 2)
        dy = y - tl.load(centre_ptr + k * 2 + 1)
        squared = dx * dx + dy * dy
        nearer = squared < best  # a strict comparison keeps the first of equal distances
        best = tl.where(nearer, squared, best)
        which = tl.where(nearer, k, which)
    tl.store(out_ptr + at, which, mask=at < n)


def assign(points, centres):
    out = torch.empty(points.shape[0], dtype=torch.int32, device=points.device)
    _assign_kernel[(triton.cdiv(points.shape[0], 64),)](
        points, centres, out, points.shape[0], centres.shape[0], BLOCK=64
    )
    return out


def check():
    points, centres = torch.randn(100, 2), torch.randn(7, 2)
    assert torch.equal(assign(points, centres).long(), torch.cdist(points, centres).argmin(1))

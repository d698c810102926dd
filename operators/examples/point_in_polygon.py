"""All lanes share a loop over a short list. Scalar loads read the corners of a polygon, and each point counts its crossings."""

import torch
import triton
import triton.language as tl


@triton.jit
def _inside_kernel(x_ptr, y_ptr, px_ptr, py_ptr, out_ptr, n, corners, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    y = tl.load(y_ptr + at, mask=at < n, other=0.0)
    crossings = tl.zeros([BLOCK], tl.int32)
    for k in range(corners):
        ax, ay = tl.load(px_ptr + k), tl.load(py_ptr + k)
        bx, by = tl.load(px_ptr + (k + 1) % corners), tl.load(py_ptr + (k + 1) % corners)
        spans = (ay > y) != (by > y)
        height = tl.where(spans, by - ay, 1.0)
        crossings += (spans & (x < ax + (y - ay) * (bx - ax) / height)).to(tl.int32)
    tl.store(out_ptr + at, (crossings % 2).to(tl.int8), mask=at < n)


def in_polygon(x, y, px, py):
    out = torch.empty(x.shape, dtype=torch.int8, device=x.device)
    _inside_kernel[(triton.cdiv(x.numel(), 64),)](
        x, y, px, py, out, x.numel(), px.numel(), BLOCK=64
    )
    return out


def check():
    x, y = torch.rand(2, 200) * 4 - 2
    diamond = torch.tensor([1.0, 0.0, -1.0, 0.0])
    assert torch.equal(
        in_polygon(x, y, diamond, diamond.roll(1)), (x.abs() + y.abs() < 1).to(torch.int8)
    )

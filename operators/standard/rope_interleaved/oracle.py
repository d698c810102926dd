"""Each program rotates one token. The program's tile contains whole heads, which are read and
written as contiguous vectors. Pairs are split and joined in registers."""

import torch
import triton
import triton.language as tl


@triton.jit
def _rope_kernel(
    x_ptr, cos_ptr, sin_ptr, y_ptr, heads, dim, half_rot, HEADS: tl.constexpr, HALF: tl.constexpr
):
    token = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1) * HEADS + tl.arange(0, HEADS)
    d = tl.arange(0, 2 * HALF)
    mask = (head < heads)[:, None] & (d < dim)[None, :]
    at = (token * heads + head)[:, None] * dim + d[None, :]
    i = tl.arange(0, HALF)
    # Pairs past the rotated part of a head get the angle 0, which leaves them unchanged.
    c = tl.load(cos_ptr + token * half_rot + i, mask=i < half_rot, other=1.0).to(tl.float32)[
        None, :
    ]
    s = tl.load(sin_ptr + token * half_rot + i, mask=i < half_rot, other=0.0).to(tl.float32)[
        None, :
    ]
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    first, second = tl.split(tl.reshape(x, (HEADS, HALF, 2)))
    y = tl.join(first * c - second * s, second * c + first * s)
    tl.store(y_ptr + at, tl.reshape(y, (HEADS, 2 * HALF)).to(tl.float16), mask=mask)


def rope_interleaved(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    tokens, heads, dim = x.shape
    half = triton.next_power_of_2(dim // 2)
    block = min(triton.next_power_of_2(heads), max(1, 4096 // (2 * half)))
    warps = 4 if block * half >= 1024 else 1
    _rope_kernel[(tokens, triton.cdiv(heads, block))](
        x, cos, sin, y, heads, dim, cos.shape[1], HEADS=block, HALF=half, num_warps=warps
    )
    return y

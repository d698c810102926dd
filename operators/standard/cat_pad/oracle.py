"""Each program computes one tile of the padded concatenation y. It loads from both sources with
masks that do not overlap, so that every row is read once. A program whose tile is only padding
reads four offsets and no rows."""

import torch
import triton
import triton.language as tl


@triton.jit
def _cat_pad_kernel(
    a_ptr,
    a_offsets_ptr,
    b_ptr,
    b_offsets_ptr,
    y_ptr,
    length,
    dim,
    pad,
    BLOCK_T: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    tiles_d = tl.cdiv(dim, BLOCK_D)
    tiles = tl.cdiv(length, BLOCK_T) * tiles_d
    entry = tl.program_id(0) // tiles
    tile = tl.program_id(0) % tiles
    t = (tile // tiles_d) * BLOCK_T + tl.arange(0, BLOCK_T)[:, None]
    d = (tile % tiles_d) * BLOCK_D + tl.arange(0, BLOCK_D)[None, :]
    a_start = tl.load(a_offsets_ptr + entry)
    a_rows = tl.load(a_offsets_ptr + entry + 1) - a_start
    b_start = tl.load(b_offsets_ptr + entry)
    b_rows = tl.load(b_offsets_ptr + entry + 1) - b_start
    inside = d < dim
    from_a = t < a_rows
    from_b = (t >= a_rows) & (t < a_rows + b_rows)
    a = tl.load(a_ptr + (a_start.to(tl.int64) + t) * dim + d, mask=from_a & inside, other=0.0)
    b = tl.load(
        b_ptr + (b_start.to(tl.int64) - a_rows + t) * dim + d, mask=from_b & inside, other=0.0
    )
    y = tl.where(from_a, a, tl.where(from_b, b, tl.full((1, 1), pad, tl.float16)))
    tl.store(y_ptr + (entry.to(tl.int64) * length + t) * dim + d, y, mask=(t < length) & inside)


def cat_pad(
    a: torch.Tensor,
    a_offsets: torch.Tensor,
    b: torch.Tensor,
    b_offsets: torch.Tensor,
    length: int,
    pad: float,
) -> torch.Tensor:
    batch, dim = a_offsets.shape[0] - 1, a.shape[1]
    y = torch.empty((batch, length, dim), dtype=a.dtype, device=a.device)
    block_d = min(512, triton.next_power_of_2(dim))
    block_t = min(4096 // block_d, triton.next_power_of_2(length))
    grid = (batch * triton.cdiv(length, block_t) * triton.cdiv(dim, block_d),)
    _cat_pad_kernel[grid](
        a,
        a_offsets,
        b,
        b_offsets,
        y,
        length,
        dim,
        pad,
        BLOCK_T=block_t,
        BLOCK_D=block_d,
        num_warps=8,
    )
    return y

"""The kernel swaps the two middle dimensions. Each program copies a tile of consecutive positions
of one head. So stores are one contiguous block, and loads are whole rows of `dim` elements. The
programs of neighbouring heads run at the same time, so the rows that they read are adjacent in
memory."""

import torch
import triton
import triton.language as tl


@triton.jit
def _permute_kernel(x_ptr, y_ptr, seq, heads, dim, BLOCK_S: tl.constexpr, BLOCK_D: tl.constexpr):
    head = tl.program_id(0) % heads
    rest = tl.program_id(0) // heads
    tiles = tl.cdiv(seq, BLOCK_S)
    batch = (rest // tiles).to(tl.int64)
    position = (rest % tiles) * BLOCK_S + tl.arange(0, BLOCK_S)[:, None]
    d = tl.arange(0, BLOCK_D)[None, :]
    mask = (position < seq) & (d < dim)
    tile = tl.load(x_ptr + ((batch * seq + position) * heads + head) * dim + d, mask=mask)
    tl.store(y_ptr + ((batch * heads + head) * seq + position) * dim + d, tile, mask=mask)


def permute_0213(x: torch.Tensor) -> torch.Tensor:
    batch, seq, heads, dim = x.shape
    y = torch.empty((batch, heads, seq, dim), dtype=x.dtype, device=x.device)
    if seq == 1 or heads == 1:
        # With one head or one position, the swap is a plain copy. So one tile can contain rows of
        # several batch entries.
        batch, seq, heads = 1, batch * seq * heads, 1
    block_d = triton.next_power_of_2(dim)
    block_s = max(1, min(4096 // block_d, triton.next_power_of_2(seq)))
    grid = (batch * triton.cdiv(seq, block_s) * heads,)
    _permute_kernel[grid](x, y, seq, heads, dim, BLOCK_S=block_s, BLOCK_D=block_d, num_warps=4)
    return y

"""Each program copies a slice of the dimension for a few tokens. Every thread copies several
16-byte vectors.

The slice index is the slower grid axis. So the programs that run at the same time use only one
slice of the table. One slice stays in the L2 cache despite the stream of writes; the whole table
would not."""

import torch
import triton
import triton.language as tl


@triton.jit
def _lookup_kernel(
    table_ptr, indices_ptr, y_ptr, tokens, dim, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr
):
    rows = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    columns = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    source = tl.load(indices_ptr + rows, mask=rows < tokens, other=-1)
    mask = (rows < tokens)[:, None] & (columns < dim)[None, :]
    # The mask of the load excludes padding tokens. Their result is zeros, so nothing is read.
    present = mask & (source >= 0)[:, None]
    values = tl.load(
        table_ptr + source.to(tl.int64)[:, None] * dim + columns[None, :],
        mask=present,
        other=0.0,
        eviction_policy="evict_last",
    )
    tl.store(
        y_ptr + rows.to(tl.int64)[:, None] * dim + columns[None, :],
        values,
        mask=mask,
        eviction_policy="evict_first",
    )


def embedding_fwd(table: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    tokens, dim = indices.numel(), table.shape[1]
    y = torch.empty((tokens, dim), dtype=table.dtype, device=table.device)
    block_d = min(512, triton.next_power_of_2(dim))
    block_t = max(1, 2048 // block_d)
    grid = (triton.cdiv(tokens, block_t), triton.cdiv(dim, block_d))
    _lookup_kernel[grid](
        table, indices, y, tokens, dim, BLOCK_T=block_t, BLOCK_D=block_d, num_warps=4
    )
    return y

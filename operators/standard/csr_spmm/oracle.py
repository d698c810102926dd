"""Each program computes a block of columns of one row of the product of A (CSR) and b (dense).

The program loads several rows of b at a time, and each load is coalesced. Each of these rows has
its own accumulators, which are added up at the end. The program is a single warp, so this sum needs
no barrier. b is read from the L2 cache far more often than from memory. Therefore programs that run
at the same time should use the same columns of b: the column block is the slower grid axis."""

import torch
import triton
import triton.language as tl


@triton.jit
def _row_kernel(
    offsets_ptr,
    columns_ptr,
    values_ptr,
    b_ptr,
    c_ptr,
    n,
    BLOCK_E: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    row = tl.program_id(0)
    start = tl.load(offsets_ptr + row)
    end = tl.load(offsets_ptr + row + 1)
    targets = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    lane = tl.arange(0, BLOCK_E)
    total = tl.zeros((BLOCK_E, BLOCK_N), tl.float32)
    for first in range(start, end, BLOCK_E):
        inside = first + lane < end
        k = tl.load(columns_ptr + first + lane, mask=inside, other=0).to(tl.int64)
        value = tl.load(values_ptr + first + lane, mask=inside, other=0.0)
        mask = inside[:, None] & (targets < n)[None, :]
        total += value[:, None] * tl.load(
            b_ptr + k[:, None] * n + targets[None, :], mask=mask, other=0.0
        )
    tl.store(c_ptr + row.to(tl.int64) * n + targets, tl.sum(total, axis=0), mask=targets < n)


def csr_spmm(
    offsets: torch.Tensor, columns: torch.Tensor, values: torch.Tensor, b: torch.Tensor
) -> torch.Tensor:
    n = b.shape[1]
    m = offsets.numel() - 1
    c = torch.empty((m, n), dtype=b.dtype, device=b.device)
    block_n = min(256, triton.next_power_of_2(n))
    # If b has few columns, the lanes process more entries of the row at a time.
    block_e = min(32, max(8, 512 // block_n))
    _row_kernel[(m, triton.cdiv(n, block_n))](
        offsets, columns, values, b, c, n, BLOCK_E=block_e, BLOCK_N=block_n, num_warps=1
    )
    return c

"""Each program sums one segment for a block of columns. It adds several rows at a time to separate
accumulators, and adds up the accumulators at the end. There are no atomics, so the result does not
depend on the order in which programs run."""

import torch
import triton
import triton.language as tl


@triton.jit
def _segment_kernel(
    values_ptr, offsets_ptr, y_ptr, dim, BLOCK_R: tl.constexpr, BLOCK_D: tl.constexpr
):
    segment = tl.program_id(0)
    start = tl.load(offsets_ptr + segment)
    end = tl.load(offsets_ptr + segment + 1)
    columns = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    lane = tl.arange(0, BLOCK_R)
    total = tl.zeros((BLOCK_R, BLOCK_D), tl.float32)
    for first in range(start, end, BLOCK_R):
        rows = first + lane
        mask = (rows < end)[:, None] & (columns < dim)[None, :]
        total += tl.load(
            values_ptr + rows.to(tl.int64)[:, None] * dim + columns[None, :], mask=mask, other=0.0
        )
    tl.store(
        y_ptr + segment.to(tl.int64) * dim + columns, tl.sum(total, axis=0), mask=columns < dim
    )


def segment_sum_csr(values: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    dim = values.shape[1]
    segments = offsets.numel() - 1
    y = torch.empty((segments, dim), dtype=values.dtype, device=values.device)
    block_d = min(256, triton.next_power_of_2(dim))
    # Eight rows in flight hide the memory latency. If rows are narrow, more rows are in flight, so
    # that every lane has work.
    block_r = max(8, 1024 // block_d)
    _segment_kernel[(segments, triton.cdiv(dim, block_d))](
        values, offsets, y, dim, BLOCK_R=block_r, BLOCK_D=block_d, num_warps=4
    )
    return y

"""Two kernels draw one index per row. The first kernel reads the weights once and computes the sum
of each chunk of a row. The second kernel finds, for each row, the chunk that contains u and the
index within that chunk. A short row is one chunk and needs only one launch."""

import torch
import triton
import triton.language as tl

CHUNK = 4096


@triton.jit
def _sums_kernel(weights_ptr, sums_ptr, cols, BLOCK: tl.constexpr):
    row, chunk = tl.program_id(1), tl.program_id(0)
    column = chunk * BLOCK + tl.arange(0, BLOCK)
    w = tl.load(weights_ptr + row.to(tl.int64) * cols + column, mask=column < cols, other=0.0)
    tl.store(sums_ptr + row.to(tl.int64) * tl.num_programs(0) + chunk, tl.sum(w, axis=0))


@triton.jit
def _draw_kernel(
    weights_ptr, u_ptr, sums_ptr, index_ptr, cols, chunks, CHUNKS: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    chunk = tl.arange(0, CHUNKS)
    sums = tl.load(sums_ptr + row * chunks + chunk, mask=chunk < chunks, other=0.0)
    target = tl.load(u_ptr + row) * tl.sum(sums, axis=0)
    passed = (tl.cumsum(sums, axis=0) <= target) & (chunk < chunks - 1)
    before = tl.sum(tl.where(passed, sums, 0.0), axis=0)
    first = tl.sum(passed.to(tl.int32), axis=0) * BLOCK
    column = first + tl.arange(0, BLOCK)
    w = tl.load(weights_ptr + row * cols + column, mask=column < cols, other=0.0)
    skipped = (before + tl.cumsum(w, axis=0) <= target) & (column < cols)
    tl.store(index_ptr + row, tl.minimum(first + tl.sum(skipped.to(tl.int32), axis=0), cols - 1))


@triton.jit
def _short_kernel(
    weights_ptr, u_ptr, index_ptr, rows, cols, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)[None, :]
    mask = (row < rows)[:, None] & (column < cols)
    w = tl.load(weights_ptr + row.to(tl.int64)[:, None] * cols + column, mask=mask, other=0.0)
    target = tl.load(u_ptr + row, mask=row < rows, other=0.0) * tl.sum(w, axis=1)
    skipped = (tl.cumsum(w, axis=1) <= target[:, None]) & (column < cols)
    tl.store(
        index_ptr + row, tl.minimum(tl.sum(skipped.to(tl.int32), axis=1), cols - 1), mask=row < rows
    )


def multinomial_from_uniform(weights: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    rows, cols = weights.shape
    index = torch.empty((rows,), dtype=torch.int32, device=weights.device)
    if cols <= CHUNK:
        block = triton.next_power_of_2(cols)
        tile = max(1, 1024 // block)
        _short_kernel[(triton.cdiv(rows, tile),)](
            weights, u, index, rows, cols, ROWS=tile, BLOCK=block, num_warps=4
        )
        return index
    chunks = triton.cdiv(cols, CHUNK)
    sums = torch.empty((rows, chunks), dtype=torch.float32, device=weights.device)
    _sums_kernel[(chunks, rows)](weights, sums, cols, BLOCK=CHUNK, num_warps=8)
    _draw_kernel[(rows,)](
        weights,
        u,
        sums,
        index,
        cols,
        chunks,
        CHUNKS=triton.next_power_of_2(chunks),
        BLOCK=CHUNK,
        num_warps=8,
    )
    return index

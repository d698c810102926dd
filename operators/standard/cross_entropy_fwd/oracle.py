"""The kernels split each row into chunks that fit in registers. So each entry needs one
exponential, and all loads of a chunk are in flight at once. There are enough programs that some
programs read while others compute.

The second kernel merges the chunks of each row and adds up the losses in a fixed order. It is a
programmatic dependent launch: it starts while the last programs of the first kernel still run. Many
short rows share a program."""

import torch
import triton
import triton.language as tl

CHUNK = 8192
# The smallest maximum that a row can have. It is finite, because an ignored row is not read and
# counts as all -inf: with the maximum -inf its sum would become NaN.
LOWEST = tl.constexpr(-3.0e38)


@triton.jit
def _chunk_kernel(
    logits_ptr,
    targets_ptr,
    tops_ptr,
    sums_ptr,
    linear_ptr,
    rows,
    classes,
    chunks,
    smoothing,
    ignore_index,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    HOPPER: tl.constexpr,
):
    if HOPPER:
        tl.extra.cuda.gdc_launch_dependents()
    row = tl.program_id(0) // chunks * ROWS + tl.arange(0, ROWS)
    chunk = tl.program_id(0) % chunks
    target = tl.load(targets_ptr + row, mask=row < rows, other=ignore_index)
    counts = target != ignore_index
    column = chunk * BLOCK + tl.arange(0, BLOCK)
    place = row.to(tl.int64) * classes
    # An ignored row is not read.
    mask = counts[:, None] & (column < classes)[None, :]
    x = tl.load(logits_ptr + place[:, None] + column[None, :], mask=mask, other=-float("inf")).to(
        tl.float32
    )
    picked = tl.load(logits_ptr + place + target, mask=counts & (chunk == 0), other=0.0).to(
        tl.float32
    )
    top = tl.maximum(tl.max(x, axis=1), LOWEST)
    plain = tl.sum(tl.where(mask, x, 0.0), axis=1)
    out = row * chunks + chunk
    tl.store(tops_ptr + out, top, mask=row < rows)
    tl.store(sums_ptr + out, tl.sum(tl.exp(x - top[:, None]), axis=1), mask=row < rows)
    # Stores, for each row, the part of the loss that the second kernel subtracts from the logarithm
    # of the sum.
    tl.store(
        linear_ptr + out, (1.0 - smoothing) * picked + smoothing * plain / classes, mask=row < rows
    )


@triton.jit
def _mean_kernel(
    tops_ptr,
    sums_ptr,
    linear_ptr,
    targets_ptr,
    loss_ptr,
    rows,
    chunks,
    ignore_index,
    ROWS: tl.constexpr,
    CHUNKS: tl.constexpr,
    HOPPER: tl.constexpr,
):
    if HOPPER:
        tl.extra.cuda.gdc_wait()
    chunk = tl.arange(0, CHUNKS)
    total = tl.zeros((ROWS,), tl.float32)
    count = tl.zeros((ROWS,), tl.float32)
    for first in range(0, rows, ROWS):
        row = first + tl.arange(0, ROWS)
        place = row[:, None] * chunks + chunk[None, :]
        mask = (row < rows)[:, None] & (chunk < chunks)[None, :]
        tops = tl.load(tops_ptr + place, mask=mask, other=LOWEST)
        sums = tl.load(sums_ptr + place, mask=mask, other=0.0)
        linear = tl.load(linear_ptr + place, mask=mask, other=0.0)
        target = tl.load(targets_ptr + row, mask=row < rows, other=ignore_index)
        counts = target != ignore_index
        top = tl.max(tops, axis=1)
        weight = tl.sum(sums * tl.exp(tops - top[:, None]), axis=1)
        lse = top + tl.log(tl.where(counts, weight, 1.0))
        total += tl.where(counts, lse - tl.sum(linear, axis=1), 0.0)
        count += counts.to(tl.float32)
    tl.store(loss_ptr, tl.sum(total, axis=0) / tl.sum(count, axis=0))


def _is_hopper() -> bool:
    """Returns True on Hopper and newer GPUs. Only these GPUs can start a kernel early, before the
    previous kernel has ended. Other GPUs and the interpreter cannot."""
    if triton.knobs.runtime.interpret:
        return False
    target = triton.runtime.driver.active.get_current_target()
    return target.backend == "cuda" and target.arch >= 90


def cross_entropy_fwd(
    logits: torch.Tensor, targets: torch.Tensor, label_smoothing: float, ignore_index: int
) -> torch.Tensor:
    hopper = _is_hopper()
    rows, classes = logits.shape
    block = min(CHUNK, triton.next_power_of_2(classes))
    tile_rows = min(triton.next_power_of_2(rows), max(1, 2048 // block))
    chunks = triton.cdiv(classes, block)
    tops, sums, linear = (
        torch.empty((rows, chunks), dtype=torch.float32, device=logits.device) for _ in range(3)
    )
    loss = torch.empty((1,), dtype=torch.float32, device=logits.device)
    _chunk_kernel[(triton.cdiv(rows, tile_rows) * chunks,)](
        logits,
        targets,
        tops,
        sums,
        linear,
        rows,
        classes,
        chunks,
        label_smoothing,
        ignore_index,
        ROWS=tile_rows,
        BLOCK=block,
        HOPPER=hopper,
        num_warps=8 if block == CHUNK else 4,
    )
    merged = triton.next_power_of_2(chunks)
    early = {"launch_pdl": True} if hopper else {}
    _mean_kernel[(1,)](
        tops,
        sums,
        linear,
        targets,
        loss,
        rows,
        chunks,
        ignore_index,
        ROWS=min(triton.next_power_of_2(rows), max(1, 4096 // merged)),
        CHUNKS=merged,
        HOPPER=hopper,
        num_warps=16,
        **early,
    )
    return loss

"""Cross entropy in one pass over the logits: each lane of a row's program keeps a running maximum, the rescaled sum and the plain sum.

They are combined once at the end. A second kernel adds up the rows' losses in a fixed order, without atomics.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _row_kernel(logits_ptr, targets_ptr, rows_ptr, classes, smoothing, ignore_index, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(targets_ptr + row)
    loss = 0.0
    # An ignored row is not read at all.
    if target != ignore_index:
        x_row = logits_ptr + row * classes
        lane = tl.arange(0, BLOCK)
        # The finite start keeps lanes that see nothing free of NaN.
        greatest = tl.full((BLOCK,), -3.0e38, tl.float32)
        total = tl.zeros((BLOCK,), tl.float32)
        plain = tl.zeros((BLOCK,), tl.float32)
        for first in range(0, classes, BLOCK):
            mask = first + lane < classes
            x = tl.load(x_row + first + lane, mask=mask, other=-float("inf")).to(tl.float32)
            new = tl.maximum(greatest, x)
            total = total * tl.exp(greatest - new) + tl.exp(x - new)
            greatest = new
            plain += tl.where(mask, x, 0.0)
        top = tl.max(greatest, axis=0)
        lse = top + tl.log(tl.sum(total * tl.exp(greatest - top), axis=0))
        picked = tl.load(x_row + target).to(tl.float32)
        loss = (1.0 - smoothing) * (lse - picked) + smoothing * (lse - tl.sum(plain, axis=0) / classes)
    tl.store(rows_ptr + row, loss)


@triton.jit
def _mean_kernel(rows_ptr, targets_ptr, loss_ptr, rows, ignore_index, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    count = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, rows, BLOCK):
        mask = first + lane < rows
        total += tl.load(rows_ptr + first + lane, mask=mask, other=0.0)
        target = tl.load(targets_ptr + first + lane, mask=mask, other=0)
        count += (mask & (target != ignore_index)).to(tl.float32)
    tl.store(loss_ptr, tl.sum(total, axis=0) / tl.sum(count, axis=0))


def cross_entropy_fwd(logits: torch.Tensor, targets: torch.Tensor, label_smoothing: float, ignore_index: int) -> torch.Tensor:
    rows, classes = logits.shape
    row_losses = torch.empty((rows,), dtype=torch.float32, device=logits.device)
    loss = torch.empty((1,), dtype=torch.float32, device=logits.device)
    block = min(4096, triton.next_power_of_2(classes))
    warps = 1 if block <= 256 else 4 if block <= 2048 else 8
    _row_kernel[(rows,)](logits, targets, row_losses, classes, label_smoothing, ignore_index, BLOCK=block, num_warps=warps)
    _mean_kernel[(1,)](row_losses, targets, loss, rows, ignore_index, BLOCK=min(4096, triton.next_power_of_2(rows)), num_warps=16)
    return loss

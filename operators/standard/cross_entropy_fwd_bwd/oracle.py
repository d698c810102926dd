"""The kernel computes loss and gradient with the row in registers. It reads the logits once and
writes the gradient once.

A row that does not fit in registers is read twice: first to compute its maximum and sum in one
pass, then to compute the gradient. A second kernel adds up the losses of the rows in a fixed
order."""

import torch
import triton
import triton.language as tl

MAX_IN_REGISTERS = 32768


@triton.jit
def _one_block_kernel(
    logits_ptr, targets_ptr, rows_ptr, grad_ptr, classes, ignore_index, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(targets_ptr + row)
    columns = tl.arange(0, BLOCK)
    mask = columns < classes
    counts = target != ignore_index
    # An ignored row is not read: every lane is masked, and the results, computed from -inf, are
    # replaced by zero.
    x = tl.load(logits_ptr + row * classes + columns, mask=mask & counts, other=-float("inf"))
    greatest = tl.maximum(tl.max(x, axis=0), -3.0e38)
    weight = tl.exp(x - greatest)
    total = tl.sum(weight, axis=0)
    picked = tl.load(logits_ptr + row * classes + target, mask=counts, other=0.0)
    tl.store(rows_ptr + row, tl.where(counts, greatest + tl.log(total) - picked, 0.0))
    grad = tl.where(counts, weight * (1.0 / total) - tl.where(columns == target, 1.0, 0.0), 0.0)
    tl.store(grad_ptr + row * classes + columns, grad, mask=mask)


@triton.jit
def _online_kernel(
    logits_ptr, targets_ptr, rows_ptr, grad_ptr, classes, ignore_index, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(targets_ptr + row)
    lane = tl.arange(0, BLOCK)
    x_row = logits_ptr + row * classes
    grad_row = grad_ptr + row * classes
    if target == ignore_index:
        tl.store(rows_ptr + row, 0.0)
        for first in range(0, classes, BLOCK):
            tl.store(
                grad_row + first + lane, tl.zeros((BLOCK,), tl.float32), mask=first + lane < classes
            )
    else:
        # Each lane has its own maximum and sum, which are combined once at the end. The maximum
        # starts with a finite value, so that lanes without entries do not become NaN.
        greatest = tl.full((BLOCK,), -3.0e38, tl.float32)
        total = tl.zeros((BLOCK,), tl.float32)
        for first in range(0, classes, BLOCK):
            x = tl.load(x_row + first + lane, mask=first + lane < classes, other=-float("inf"))
            new = tl.maximum(greatest, x)
            total = total * tl.exp(greatest - new) + tl.exp(x - new)
            greatest = new
        top = tl.max(greatest, axis=0)
        whole = tl.sum(total * tl.exp(greatest - top), axis=0)
        tl.store(rows_ptr + row, top + tl.log(whole) - tl.load(x_row + target))
        scale = 1.0 / whole
        for first in range(0, classes, BLOCK):
            mask = first + lane < classes
            x = tl.load(x_row + first + lane, mask=mask, other=0.0)
            grad = tl.exp(x - top) * scale - tl.where(first + lane == target, 1.0, 0.0)
            tl.store(grad_row + first + lane, grad, mask=mask)


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


def cross_entropy_fwd_bwd(
    logits: torch.Tensor, targets: torch.Tensor, ignore_index: int
) -> tuple[torch.Tensor, torch.Tensor]:
    rows, classes = logits.shape
    grad = torch.empty_like(logits)
    row_losses = torch.empty((rows,), dtype=torch.float32, device=logits.device)
    loss = torch.empty((1,), dtype=torch.float32, device=logits.device)
    if classes > MAX_IN_REGISTERS:
        _online_kernel[(rows,)](
            logits, targets, row_losses, grad, classes, ignore_index, BLOCK=8192, num_warps=16
        )
    else:
        block = triton.next_power_of_2(classes)
        warps = 1 if block <= 256 else 4 if block <= 2048 else 8 if block <= 8192 else 16
        _one_block_kernel[(rows,)](
            logits, targets, row_losses, grad, classes, ignore_index, BLOCK=block, num_warps=warps
        )
    _mean_kernel[(1,)](
        row_losses,
        targets,
        loss,
        rows,
        ignore_index,
        BLOCK=min(4096, triton.next_power_of_2(rows)),
        num_warps=16,
    )
    return loss, grad

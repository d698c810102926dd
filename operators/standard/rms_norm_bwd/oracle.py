"""Two kernels compute the backward pass of RMS normalisation.

Each program of the first kernel loops over rows with a fixed stride. It writes dx and keeps its
partial sum of dw in registers, so x and dy are read once. The second kernel adds up the partial
sums: a few hundred rows that are still in the L2 cache."""

import torch
import triton
import triton.language as tl

# The number of programs: four for each SM of the largest GPU. More programs would only create more
# partial sums to add.
PROGRAMS = 528


@triton.jit
def _rows_kernel(
    dy_ptr, x_ptr, w_ptr, rstd_ptr, dx_ptr, shares_ptr, rows, cols, BLOCK: tl.constexpr
):
    program = tl.program_id(0)
    programs = tl.num_programs(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < cols
    w = tl.load(w_ptr + columns, mask=mask, other=0.0)
    dw = tl.zeros((BLOCK,), tl.float32)
    start = program.to(tl.int64) * cols
    for row in range(program, rows, programs):
        dy = tl.load(dy_ptr + start + columns, mask=mask, other=0.0)
        x = tl.load(x_ptr + start + columns, mask=mask, other=0.0)
        rstd = tl.load(rstd_ptr + row)
        xhat = x * rstd
        g = dy * w
        projection = tl.sum(g * xhat, axis=0) / cols
        tl.store(dx_ptr + start + columns, rstd * (g - xhat * projection), mask=mask)
        dw += dy * xhat
        start += programs * cols
    tl.store(shares_ptr + program * cols + columns, dw, mask=mask)


@triton.jit
def _sum_kernel(shares_ptr, out_ptr, programs, width, ROWS: tl.constexpr, COLS: tl.constexpr):
    columns = tl.program_id(0) * COLS + tl.arange(0, COLS)
    total = tl.zeros((ROWS, COLS), tl.float32)
    for first in range(0, programs, ROWS):
        rows = first + tl.arange(0, ROWS)
        mask = (rows < programs)[:, None] & (columns < width)[None, :]
        total += tl.load(
            shares_ptr + rows[:, None] * width + columns[None, :], mask=mask, other=0.0
        )
    tl.store(out_ptr + columns, tl.sum(total, axis=0), mask=columns < width)


def rms_norm_bwd(
    dy: torch.Tensor, x: torch.Tensor, w: torch.Tensor, rstd: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    rows, cols = x.shape
    block = triton.next_power_of_2(cols)
    programs = min(rows, PROGRAMS)
    dx = torch.empty_like(x)
    shares = torch.empty((programs, cols), dtype=torch.float32, device=x.device)
    dw = torch.empty((cols,), dtype=torch.float32, device=x.device)
    warps = 4 if block <= 1024 else 8 if block <= 4096 else 16
    _rows_kernel[(programs,)](dy, x, w, rstd, dx, shares, rows, cols, BLOCK=block, num_warps=warps)
    _sum_kernel[(triton.cdiv(cols, 32),)](shares, dw, programs, cols, ROWS=64, COLS=32, num_warps=8)
    return dx, dw

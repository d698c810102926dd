"""Two kernels compute the backward pass of layer normalisation.

Each program of the first kernel loops over rows with a fixed stride. It writes dx and keeps its
partial sums of dw and db in registers, so x and dy are read once. It issues the loads of the next
row before it reduces the current row, and one reduction computes both sums of a row. The second
kernel adds up the partial sums: a few hundred rows that are still in the L2 cache."""

import torch
import triton
import triton.language as tl

# The number of programs: three for each SM of the largest GPU. More programs would only create more
# partial sums to add.
PROGRAMS = 396


@triton.jit
def _add(a, b, c, d):
    return a + c, b + d


@triton.jit
def _rows_kernel(
    dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dx_ptr, shares_ptr, rows, cols, BLOCK: tl.constexpr
):
    program = tl.program_id(0)
    programs = tl.num_programs(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < cols
    w = tl.load(w_ptr + columns, mask=mask, other=0.0)
    dw = tl.zeros((BLOCK,), tl.float32)
    db = tl.zeros((BLOCK,), tl.float32)
    start = program.to(tl.int64) * cols
    dy = tl.load(dy_ptr + start + columns, mask=mask, other=0.0)
    x = tl.load(x_ptr + start + columns, mask=mask, other=0.0)
    rstd = tl.load(rstd_ptr + program)
    mean = tl.load(mean_ptr + program)
    for row in range(program, rows, programs):
        later = start + programs * cols
        more = row + programs < rows
        dy_next = tl.load(dy_ptr + later + columns, mask=mask & more, other=0.0)
        x_next = tl.load(x_ptr + later + columns, mask=mask & more, other=0.0)
        rstd_next = tl.load(rstd_ptr + row + programs, mask=more, other=0.0)
        mean_next = tl.load(mean_ptr + row + programs, mask=more, other=0.0)
        xhat = tl.where(mask, (x - mean) * rstd, 0.0)
        g = dy * w
        sum_g, sum_gx = tl.reduce((g, g * xhat), 0, _add)
        tl.store(
            dx_ptr + start + columns, rstd * (g - sum_g / cols - xhat * (sum_gx / cols)), mask=mask
        )
        dw += dy * xhat
        db += dy
        dy, x, rstd, mean, start = dy_next, x_next, rstd_next, mean_next, later
    share = shares_ptr + program * 2 * cols
    tl.store(share + columns, dw, mask=mask)
    tl.store(share + cols + columns, db, mask=mask)


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


def layer_norm_bwd(
    dy: torch.Tensor, x: torch.Tensor, w: torch.Tensor, mean: torch.Tensor, rstd: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    rows, cols = x.shape
    block = triton.next_power_of_2(cols)
    programs = min(rows, PROGRAMS)
    dx = torch.empty_like(x)
    shares = torch.empty((programs, 2 * cols), dtype=torch.float32, device=x.device)
    sums = torch.empty((2 * cols,), dtype=torch.float32, device=x.device)
    warps = 4 if block <= 2048 else 8
    _rows_kernel[(programs,)](
        dy, x, w, mean, rstd, dx, shares, rows, cols, BLOCK=block, num_warps=warps
    )
    _sum_kernel[(triton.cdiv(2 * cols, 16),)](
        shares, sums, programs, 2 * cols, ROWS=256, COLS=16, num_warps=8
    )
    return dx, sums[:cols], sums[cols:]

"""tl.swizzle2d renumbers a 2-D grid, so that consecutive programs share rows and columns. Each tile stores its new number."""

import torch
import triton
import triton.language as tl


@triton.jit
def _visit_kernel(order_ptr, rows, cols, GROUP: tl.constexpr):
    i, j = tl.program_id(0), tl.program_id(1)
    number = i * cols + j
    new_i, new_j = tl.swizzle2d(i, j, rows, cols, GROUP)
    tl.store(order_ptr + new_i * cols + new_j, number)


def visiting_order(rows, cols, group, device="cuda"):
    order = torch.empty((rows, cols), dtype=torch.int32, device=device)
    _visit_kernel[(rows, cols)](order, rows, cols, GROUP=group)
    return order


def check():
    assert visiting_order(4, 4, 2, "cpu").tolist() == [
        [0, 2, 4, 6],
        [1, 3, 5, 7],
        [8, 10, 12, 14],
        [9, 11, 13, 15],
    ]

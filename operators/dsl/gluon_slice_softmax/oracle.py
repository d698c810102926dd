"""In this Gluon kernel each program computes a tile of whole rows. A reduction over columns returns
a vector in the SliceLayout of the tile's BlockedLayout.

The program reads its tile once, in 16-byte accesses, and keeps it in registers. Several short rows
share a warp, and a long row is spread over all warps."""

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def _softmax_kernel(
    x_ptr, y_ptr, rows, cols, TILE_ROWS: gl.constexpr, BLOCK: gl.constexpr, layout: gl.constexpr
):
    down: gl.constexpr = gl.SliceLayout(1, layout)
    across: gl.constexpr = gl.SliceLayout(0, layout)
    row = gl.program_id(0) * TILE_ROWS + gl.arange(0, TILE_ROWS, layout=down)
    column = gl.arange(0, BLOCK, layout=across)
    offsets = row.to(gl.int64)[:, None] * cols + column[None, :]
    mask = (row < rows)[:, None] & (column < cols)[None, :]
    # A row past the end is all -inf. Its result is NaN and is never stored.
    x = gl.load(x_ptr + offsets, mask=mask, other=-float("inf"))
    weight = gl.exp(x - gl.max(x, axis=1)[:, None])
    scale = 1.0 / gl.sum(weight, axis=1)
    gl.store(y_ptr + offsets, weight * scale[:, None], mask=mask)


def gluon_slice_softmax(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    rows, cols = x.shape
    block = max(triton.next_power_of_2(cols), 4)
    if block <= 1024:
        # Four vectors per thread are enough loads in flight. A row uses block / 4 lanes, at most
        # the 32 lanes of one warp.
        lanes, warps = min(block // 4, 32), 4
        tile_rows = max(2048 // block, 32 // lanes * warps)
        shape = [warps, 1]
    else:
        lanes, warps, tile_rows = 32, 4 if block <= 2048 else 8 if block <= 8192 else 16, 1
        shape = [1, warps]
    layout = gl.BlockedLayout(
        size_per_thread=[1, 4],
        threads_per_warp=[32 // lanes, lanes],
        warps_per_cta=shape,
        order=[1, 0],
    )
    _softmax_kernel[(triton.cdiv(rows, tile_rows),)](
        x, y, rows, cols, TILE_ROWS=tile_rows, BLOCK=block, layout=layout, num_warps=warps
    )
    return y

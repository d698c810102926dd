"""This Gluon kernel transposes a tile in shared memory, so that loads and stores both move whole
16-byte vectors.

Each thread reads a square of V x V elements (V elements are 16 bytes) and transposes it in its own
registers, so that it can also write vectors to shared memory. There the 16-byte chunks of a row are
swizzled by row / V. The eight lanes that write one column of squares access eight different groups
of banks, and so do the eight lanes that read one row. If an extent is not a multiple of V, the
kernel moves single elements."""

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def _transpose_kernel(
    x_ptr,
    y_ptr,
    rows,
    cols,
    TILE_ROWS: gl.constexpr,
    TILE_COLS: gl.constexpr,
    load_layout: gl.constexpr,
    shared_layout: gl.constexpr,
    store_layout: gl.constexpr,
):
    tiles_across = gl.cdiv(cols, TILE_COLS)
    first_row = gl.program_id(0) // tiles_across * TILE_ROWS
    first_col = gl.program_id(0) % tiles_across * TILE_COLS
    row = first_row + gl.arange(0, TILE_ROWS, layout=gl.SliceLayout(1, load_layout))
    col = first_col + gl.arange(0, TILE_COLS, layout=gl.SliceLayout(0, load_layout))
    x = gl.load(
        x_ptr + row.to(gl.int64)[:, None] * cols + col[None, :],
        mask=(row < rows)[:, None] & (col < cols)[None, :],
    )
    turned = gl.allocate_shared_memory(
        x_ptr.dtype.element_ty, [TILE_COLS, TILE_ROWS], shared_layout
    )
    turned.store(gl.permute(x, (1, 0)))
    y = turned.load(store_layout)
    row = first_row + gl.arange(0, TILE_ROWS, layout=gl.SliceLayout(0, store_layout))
    col = first_col + gl.arange(0, TILE_COLS, layout=gl.SliceLayout(1, store_layout))
    gl.store(
        y_ptr + col.to(gl.int64)[:, None] * rows + row[None, :],
        y,
        mask=(col < cols)[:, None] & (row < rows)[None, :],
    )


def gluon_smem_transpose(x: torch.Tensor) -> torch.Tensor:
    rows, cols = x.shape
    y = torch.empty((cols, rows), dtype=x.dtype, device=x.device)
    size = x.element_size()
    vector = 16 // size if rows % (16 // size) == 0 and cols % (16 // size) == 0 else 1
    tile = 128 if size == 2 else 64
    if vector > 1:
        load = gl.BlockedLayout(
            size_per_thread=[vector, vector],
            threads_per_warp=[4, 8],
            warps_per_cta=[4, 2],
            order=[1, 0],
        )
        shared = gl.SwizzledSharedLayout(vec=vector, per_phase=vector, max_phase=8, order=[1, 0])
        store = gl.BlockedLayout(
            size_per_thread=[1, vector], threads_per_warp=[4, 8], warps_per_cta=[8, 1], order=[1, 0]
        )
    else:
        load = gl.BlockedLayout(
            size_per_thread=[1, 1], threads_per_warp=[1, 32], warps_per_cta=[8, 1], order=[1, 0]
        )
        shared = gl.SwizzledSharedLayout(vec=4 // size, per_phase=1, max_phase=32, order=[1, 0])
        store = load
    grid = (triton.cdiv(rows, tile) * triton.cdiv(cols, tile),)
    _transpose_kernel[grid](
        x,
        y,
        rows,
        cols,
        TILE_ROWS=tile,
        TILE_COLS=tile,
        load_layout=load,
        shared_layout=shared,
        store_layout=store,
        num_warps=8,
    )
    return y

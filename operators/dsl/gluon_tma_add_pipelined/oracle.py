"""This Gluon kernel runs persistent programs that load and store with TMA. While a program adds one
tile, a ring of tiles is being loaded and two tiles are being stored.

After a slot is read, it is refilled at once with the tile that is STAGES iterations ahead. So each
slot needs only one mbarrier, whose phase flips each time the slot is filled. TMA loads zeros for
positions outside the matrix, counts these positions as arrived, and does not store them. So the
kernel needs no masks."""

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

MULTIPROCESSORS = 132


@gluon.jit
def _fetch(x_desc, y_desc, x_ring, y_ring, ready, slot, tile, tiles_across):
    row = tile // tiles_across * x_desc.block_shape[0]
    col = tile % tiles_across * x_desc.block_shape[1]
    bar = ready.index(slot)
    mbarrier.expect(bar, x_desc.block_type.nbytes + y_desc.block_type.nbytes)
    tma.async_copy_global_to_shared(x_desc, [row, col], bar, x_ring.index(slot))
    tma.async_copy_global_to_shared(y_desc, [row, col], bar, y_ring.index(slot))


@gluon.jit
def _add_kernel(
    x_desc, y_desc, z_desc, tiles, tiles_across, STAGES: gl.constexpr, layout: gl.constexpr
):
    dtype: gl.constexpr = x_desc.dtype
    rows: gl.constexpr = x_desc.block_shape[0]
    cols: gl.constexpr = x_desc.block_shape[1]
    x_ring = gl.allocate_shared_memory(dtype, [STAGES, rows, cols], x_desc.layout)
    y_ring = gl.allocate_shared_memory(dtype, [STAGES, rows, cols], y_desc.layout)
    z_pair = gl.allocate_shared_memory(dtype, [2, rows, cols], z_desc.layout)
    ready = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(STAGES):
        mbarrier.init(ready.index(i), count=1)
    fence_async_shared()

    first = gl.program_id(0)
    step = gl.num_programs(0)
    for i in gl.static_range(STAGES):
        if first + i * step < tiles:
            _fetch(x_desc, y_desc, x_ring, y_ring, ready, i, first + i * step, tiles_across)
    for turn in range(gl.cdiv(tiles - first, step)):
        tile = first + turn * step
        slot = turn % STAGES
        mbarrier.wait(ready.index(slot), turn // STAGES & 1)
        x = x_ring.index(slot).load(layout)
        y = y_ring.index(slot).load(layout)
        # After the barrier every thread has read its values, so the slot may be overwritten.
        gl.thread_barrier()
        if tile + STAGES * step < tiles:
            _fetch(x_desc, y_desc, x_ring, y_ring, ready, slot, tile + STAGES * step, tiles_across)
        z = (x.to(gl.float32) + y.to(gl.float32)).to(dtype)
        # Waits until at most one store is still reading shared memory. That store reads the other
        # buffer of the pair.
        z_tile = z_pair.index(turn % 2)
        tma.store_wait(pendings=1)
        gl.thread_barrier()
        z_tile.store(z)
        fence_async_shared()
        gl.thread_barrier()
        tma.async_copy_shared_to_global(
            z_desc, [tile // tiles_across * rows, tile % tiles_across * cols], z_tile
        )
    tma.store_wait(pendings=0)
    for i in gl.static_range(STAGES):
        mbarrier.invalidate(ready.index(i))


def gluon_tma_add_pipelined(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = torch.empty_like(x)
    block = [32, 128]
    shared = gl.NVMMASharedLayout.get_default_for(block, gl.float16)
    # Eight lanes read one row of 128 swizzled bytes, 16 bytes each.
    layout = gl.BlockedLayout(
        size_per_thread=[1, 8], threads_per_warp=[4, 8], warps_per_cta=[4, 1], order=[1, 0]
    )
    x_desc, y_desc, z_desc = (TensorDescriptor.from_tensor(t, block, shared) for t in (x, y, z))
    tiles_across = triton.cdiv(x.shape[1], block[1])
    tiles = triton.cdiv(x.shape[0], block[0]) * tiles_across
    # A program needs 64 KiB for the inputs in flight and 16 KiB for the outputs, so two programs
    # fit on a multiprocessor.
    _add_kernel[(min(2 * MULTIPROCESSORS, tiles),)](
        x_desc, y_desc, z_desc, tiles, tiles_across, STAGES=4, layout=layout, num_warps=4
    )
    return z

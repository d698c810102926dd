"""This Gluon kernel runs persistent programs with specialised warps. One warp loads tiles with TMA,
four warps add, and one warp stores with TMA.

Rings of buffers and barriers connect the warps. Between the loader and the adders, `loaded`
signals that the bytes have arrived, and `taken` that the slot is free. Between the adders and
the storer, `added` signals a finished tile, and `stored` that its slot is free. A barrier's
phase flips each time its slot is used. A warp waits for a free slot until the previous phase
of the slot's barrier is complete. For a new barrier the previous phase counts as complete.
"""

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

MULTIPROCESSORS = 132


@gluon.jit
def _load_tiles(
    x_desc, y_desc, x_ring, y_ring, loaded, taken, tiles, tiles_across, IN: gl.constexpr
):
    for turn in range(gl.cdiv(tiles - gl.program_id(0), gl.num_programs(0))):
        tile = gl.program_id(0) + turn * gl.num_programs(0)
        slot = turn % IN
        row = tile // tiles_across * x_desc.block_shape[0]
        col = tile % tiles_across * x_desc.block_shape[1]
        mbarrier.wait(taken.index(slot), turn // IN & 1 ^ 1)
        bar = loaded.index(slot)
        mbarrier.expect(bar, x_desc.block_type.nbytes + y_desc.block_type.nbytes)
        tma.async_copy_global_to_shared(x_desc, [row, col], bar, x_ring.index(slot))
        tma.async_copy_global_to_shared(y_desc, [row, col], bar, y_ring.index(slot))


@gluon.jit
def _add_tiles(
    x_ring,
    y_ring,
    z_ring,
    loaded,
    taken,
    added,
    stored,
    tiles,
    IN: gl.constexpr,
    OUT: gl.constexpr,
    layout: gl.constexpr,
):
    for turn in range(gl.cdiv(tiles - gl.program_id(0), gl.num_programs(0))):
        slot = turn % IN
        mbarrier.wait(loaded.index(slot), turn // IN & 1)
        x = x_ring.index(slot).load(layout)
        y = y_ring.index(slot).load(layout)
        # The barrier ensures that every warp has read its values. Then one thread arrives for all
        # threads.
        gl.thread_barrier()
        mbarrier.arrive(taken.index(slot), count=1)
        slot = turn % OUT
        mbarrier.wait(stored.index(slot), turn // OUT & 1 ^ 1)
        z_ring.index(slot).store(x + y)
        fence_async_shared()
        gl.thread_barrier()
        mbarrier.arrive(added.index(slot), count=1)


@gluon.jit
def _store_tiles(z_desc, z_ring, added, stored, tiles, tiles_across, OUT: gl.constexpr):
    for turn in range(gl.cdiv(tiles - gl.program_id(0), gl.num_programs(0))):
        tile = gl.program_id(0) + turn * gl.num_programs(0)
        row = tile // tiles_across * z_desc.block_shape[0]
        col = tile % tiles_across * z_desc.block_shape[1]
        mbarrier.wait(added.index(turn % OUT), turn // OUT & 1)
        tma.async_copy_shared_to_global(z_desc, [row, col], z_ring.index(turn % OUT))
        # One store may stay in flight. The store before it has read its slot, so that slot is free.
        tma.store_wait(pendings=1)
        if turn > 0:
            mbarrier.arrive(stored.index((turn - 1) % OUT), count=1)
    tma.store_wait(pendings=0)


@gluon.jit
def _add_kernel(
    x_desc,
    y_desc,
    z_desc,
    tiles,
    tiles_across,
    IN: gl.constexpr,
    OUT: gl.constexpr,
    layout: gl.constexpr,
):
    rows: gl.constexpr = x_desc.block_shape[0]
    cols: gl.constexpr = x_desc.block_shape[1]
    x_ring = gl.allocate_shared_memory(gl.float32, [IN, rows, cols], x_desc.layout)
    y_ring = gl.allocate_shared_memory(gl.float32, [IN, rows, cols], y_desc.layout)
    z_ring = gl.allocate_shared_memory(gl.float32, [OUT, rows, cols], z_desc.layout)
    loaded = gl.allocate_shared_memory(gl.int64, [IN, 1], mbarrier.MBarrierLayout())
    taken = gl.allocate_shared_memory(gl.int64, [IN, 1], mbarrier.MBarrierLayout())
    added = gl.allocate_shared_memory(gl.int64, [OUT, 1], mbarrier.MBarrierLayout())
    stored = gl.allocate_shared_memory(gl.int64, [OUT, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(IN):
        mbarrier.init(loaded.index(i), count=1)
        mbarrier.init(taken.index(i), count=1)
    for i in gl.static_range(OUT):
        mbarrier.init(added.index(i), count=1)
        mbarrier.init(stored.index(i), count=1)
    fence_async_shared()
    gl.warp_specialize(
        [
            (
                _add_tiles,
                (x_ring, y_ring, z_ring, loaded, taken, added, stored, tiles, IN, OUT, layout),
            ),
            (_load_tiles, (x_desc, y_desc, x_ring, y_ring, loaded, taken, tiles, tiles_across, IN)),
            (_store_tiles, (z_desc, z_ring, added, stored, tiles, tiles_across, OUT)),
        ],
        [1, 1],
        [24, 24],
    )


def gluon_ws_tma_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = torch.empty_like(x)
    block = [32, 64]
    shared = gl.NVMMASharedLayout.get_default_for(block, gl.float32)
    # Eight lanes read one row of 128 swizzled bytes, 16 bytes each.
    layout = gl.BlockedLayout(
        size_per_thread=[1, 4], threads_per_warp=[4, 8], warps_per_cta=[4, 1], order=[1, 0]
    )
    x_desc, y_desc, z_desc = (TensorDescriptor.from_tensor(t, block, shared) for t in (x, y, z))
    tiles_across = triton.cdiv(x.shape[1], block[1])
    tiles = triton.cdiv(x.shape[0], block[0]) * tiles_across
    # A program needs 64 KiB for the inputs in flight and 24 KiB for the outputs, so two programs
    # fit on a multiprocessor. The limit of registers allows two programs as well.
    programs = min(2 * MULTIPROCESSORS, tiles)
    _add_kernel[(programs,)](
        x_desc,
        y_desc,
        z_desc,
        tiles,
        tiles_across,
        IN=4,
        OUT=3,
        layout=layout,
        num_warps=4,
        maxnreg=128,
    )
    return z

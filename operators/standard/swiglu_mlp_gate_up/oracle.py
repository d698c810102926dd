"""The kernel computes two GEMMs with the same left operand x in one loop. So each tile of x is
loaded once for both weight matrices.

silu(gate) * up is computed from the two accumulators, so neither product is stored in memory."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def _gate_up_kernel(
    x_ptr,
    gate_ptr,
    up_ptr,
    y_ptr,
    m,
    n,
    k,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
    EVEN_K: tl.constexpr,
):
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    program = tl.program_id(0)
    group = program // (GROUP * tiles_n)
    height = min(tiles_m - group * GROUP, GROUP)
    tile_m = group * GROUP + (program % (GROUP * tiles_n)) % height
    tile_n = (program % (GROUP * tiles_n)) // height

    # Rows and columns past the end wrap around to the start, so the loads need no mask. The results
    # of these rows and columns are never stored.
    rows = (tile_m * BM + tl.arange(0, BM)) % m
    columns = (tile_n * BN + tl.arange(0, BN)) % n
    depth = tl.arange(0, BK)
    x_tile = x_ptr + rows[:, None] * k + depth[None, :]
    w_tile = depth[:, None] * n + columns[None, :]
    gate = tl.zeros((BM, BN), tl.float32)
    up = tl.zeros((BM, BN), tl.float32)
    for first in range(0, k, BK):
        if EVEN_K:
            x = tl.load(x_tile)
            w_gate = tl.load(gate_ptr + w_tile)
            w_up = tl.load(up_ptr + w_tile)
        else:
            inside = first + depth < k
            x = tl.load(x_tile, mask=inside[None, :], other=0.0)
            w_gate = tl.load(gate_ptr + w_tile, mask=inside[:, None], other=0.0)
            w_up = tl.load(up_ptr + w_tile, mask=inside[:, None], other=0.0)
        gate = tl.dot(x, w_gate, gate)
        up = tl.dot(x, w_up, up)
        x_tile += BK
        w_tile += BK * n
    rows = tile_m * BM + tl.arange(0, BM)
    columns = tile_n * BN + tl.arange(0, BN)
    y = gate * tl.sigmoid(gate) * up
    tl.store(
        y_ptr + rows[:, None] * n + columns[None, :],
        y,
        mask=(rows < m)[:, None] & (columns < n)[None, :],
    )


@triton.jit
def _tma_kernel(
    x_desc,
    gate_desc,
    up_desc,
    c_ptr,
    m,
    n,
    k,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
):
    # TMA loads the operand tiles. TMA needs no pointers in registers and fills positions past the
    # end with zeros. With TMA, shared memory has room for one pipeline stage more than with loads
    # by pointers.
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    program = tl.program_id(0)
    group = program // (GROUP * tiles_n)
    height = min(tiles_m - group * GROUP, GROUP)
    top = (group * GROUP + (program % (GROUP * tiles_n)) % height) * BM
    left = (program % (GROUP * tiles_n)) // height * BN
    gate = tl.zeros((BM, BN), tl.float32)
    up = tl.zeros((BM, BN), tl.float32)
    for first in range(0, k, BK):
        x = x_desc.load([top, first])
        gate = tl.dot(x, gate_desc.load([first, left]), gate)
        up = tl.dot(x, up_desc.load([first, left]), up)
    rows = top + tl.arange(0, BM)
    columns = left + tl.arange(0, BN)
    mask = (rows < m)[:, None] & (columns < n)[None, :]
    tl.store(
        c_ptr + rows.to(tl.int64)[:, None] * n + columns[None, :],
        gate * tl.sigmoid(gate) * up,
        mask=mask,
    )


def _is_amd() -> bool:
    """Returns True on AMD GPUs. An AMD GPU has no TMA, and two accumulators of 128 x 128 need more
    registers than 8 waves have, so the tiles are smaller and are loaded by pointers."""
    return (
        not triton.knobs.runtime.interpret
        and triton.runtime.driver.active.get_current_target().backend == "hip"
    )


def swiglu_mlp_gate_up(x: torch.Tensor, w_gate: torch.Tensor, w_up: torch.Tensor) -> torch.Tensor:
    m, k = x.shape
    n = w_gate.shape[1]
    y = torch.empty((m, n), dtype=torch.float32, device=x.device)
    # Two accumulators of 128 x 128 need as many registers as one accumulator of 128 x 256.
    if m * n >= 2048 * 2048:
        bm, bn, bk, warps, stages = (128, 64, 64, 8, 2) if _is_amd() else (128, 128, 64, 8, 3)
    elif m <= 16:
        bm, bn, bk, warps, stages = 16, 32, 128, 4, 4
    elif m * n >= 512 * 512:
        bm, bn, bk, warps, stages = 64, 64, 64, 4, 4
    else:
        bm, bn, bk, warps, stages = 64, 32, 64, 4, 4
    grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
    if m * n >= 2048 * 2048 and k % 8 == 0 and n % 8 == 0 and not _is_amd():
        x_desc = TensorDescriptor.from_tensor(x, [bm, bk])
        gate_desc = TensorDescriptor.from_tensor(w_gate, [bk, bn])
        up_desc = TensorDescriptor.from_tensor(w_up, [bk, bn])
        _tma_kernel[grid](
            x_desc,
            gate_desc,
            up_desc,
            y,
            m,
            n,
            k,
            BM=bm,
            BN=bn,
            BK=bk,
            GROUP=8,
            num_warps=warps,
            num_stages=4,
        )
        return y
    _gate_up_kernel[grid](
        x,
        w_gate,
        w_up,
        y,
        m,
        n,
        k,
        BM=bm,
        BN=bn,
        BK=bk,
        GROUP=8,
        EVEN_K=k % bk == 0,
        num_warps=warps,
        num_stages=stages,
    )
    return y

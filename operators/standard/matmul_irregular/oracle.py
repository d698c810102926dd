"""The kernels compute a float16 GEMM of odd sizes. Rows that start at arbitrary even addresses
allow only 2-byte loads, which asynchronous copies and software pipelining do not support.

So the first kernel copies both operands to scratch memory and pads rows with zeros to multiples of
16 bytes. TMA then loads the tiles of the product. The copy costs O(mk + kn), and the product
O(mnk). The copied operands are still in the L2 cache, except for the largest sizes."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def _pad_kernel(x_ptr, out_ptr, rows, cols, stride, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    row = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)[:, None]
    column = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)[None, :]
    x = tl.load(x_ptr + row * cols + column, mask=(row < rows) & (column < cols), other=0.0)
    tl.store(out_ptr + row * stride + column, x, mask=(row < rows) & (column < stride))


@triton.jit
def _tma_kernel(
    a_desc,
    b_desc,
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
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, k, BK):
        a = a_desc.load([top, first])
        b = b_desc.load([first, left])
        acc = tl.dot(a, b, acc)
    rows = top + tl.arange(0, BM)
    columns = left + tl.arange(0, BN)
    mask = (rows < m)[:, None] & (columns < n)[None, :]
    tl.store(
        c_ptr + rows.to(tl.int64)[:, None] * n + columns[None, :], acc.to(tl.float16), mask=mask
    )


def _padded(x: torch.Tensor) -> torch.Tensor:
    # Pads each row of x so that the next row starts at a multiple of 16 bytes, which TMA requires.
    # Rows need no other padding, because TMA supplies zeros past the end of a row.
    rows, cols = x.shape
    width = triton.cdiv(cols, 8) * 8
    out = torch.empty((rows, width), dtype=x.dtype, device=x.device)
    _pad_kernel[(triton.cdiv(rows, 8), triton.cdiv(width, 256))](
        x, out, rows, cols, width, BLOCK_R=8, BLOCK_C=256, num_warps=4
    )
    return out


def _is_amd() -> bool:
    """Returns True on AMD GPUs. A tile of 128 x 256 needs more registers than 8 waves have."""
    return (
        not triton.knobs.runtime.interpret
        and triton.runtime.driver.active.get_current_target().backend == "hip"
    )


def matmul_irregular(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    m = a.shape[0]
    n = b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if m * n >= 2000 * 2000:
        bm, bn, bk, warps, stages = 128, 128 if _is_amd() else 256, 64, 8, 3
    elif m * n >= 512 * 512:
        bm, bn, bk, warps, stages = 128, 64, 64, 4, 4
    else:
        bm, bn, bk, warps, stages = 32, 32, 64, 4, 5
    a, b = _padded(a), _padded(b)
    grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
    a_desc = TensorDescriptor.from_tensor(a, [bm, bk])
    b_desc = TensorDescriptor.from_tensor(b, [bk, bn])
    stages = 4
    _tma_kernel[grid](
        a_desc,
        b_desc,
        c,
        m,
        n,
        a.shape[1],
        BM=bm,
        BN=bn,
        BK=bk,
        GROUP=8,
        num_warps=warps,
        num_stages=stages,
    )
    return c

"""The kernel computes a 4-bit GEMM in transposed form (c^T = w x^T), so that tensor cores read the
unpacked weights directly from registers.

The low nibbles of a group's bytes are the first half of the group's values along k, and the high
nibbles are the second half. So each tile of bytes is used for two products, and no values need to
be interleaved."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def _gemm_kernel(
    x_ptr,
    packed_ptr,
    scale_ptr,
    zero_ptr,
    c_ptr,
    m,
    n,
    groups,
    BM: tl.constexpr,
    BN: tl.constexpr,
    GROUP: tl.constexpr,
):
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    program = tl.program_id(0)
    band = program // (GROUP * tiles_m)
    height = min(tiles_n - band * GROUP, GROUP)
    tile_n = band * GROUP + (program % (GROUP * tiles_m)) % height
    tile_m = (program % (GROUP * tiles_m)) // height

    # Rows past the end wrap around to the start. The results of these rows are never stored.
    tokens = (tile_m * BM + tl.arange(0, BM)) % m
    channels = (tile_n * BN + tl.arange(0, BN)) % n
    half = tl.arange(0, 64)
    packed_tile = packed_ptr + channels.to(tl.int64)[:, None] * (groups * 64) + half[None, :]
    x_tile = x_ptr + tokens.to(tl.int64)[None, :] * (groups * 128) + half[:, None]
    scale_tile = scale_ptr + channels * groups
    zero_tile = zero_ptr + channels * groups
    acc = tl.zeros((BN, BM), tl.float32)
    for _ in range(0, groups):
        packed = tl.load(packed_tile)
        x_low = tl.load(x_tile)
        x_high = tl.load(x_tile + 64)
        scale = tl.load(scale_tile)[:, None]
        # As a float16, the bits 0x6400 | q are 1024 + q, so no conversion is needed. The difference
        # of two such numbers is exact, and its product with the scale is rounded once.
        zero = (tl.load(zero_tile).to(tl.uint16) | 0x6400).to(tl.float16, bitcast=True)[:, None]
        low = ((packed & 15).to(tl.uint16) | 0x6400).to(tl.float16, bitcast=True)
        high = ((packed >> 4).to(tl.uint16) | 0x6400).to(tl.float16, bitcast=True)
        acc = tl.dot((low - zero) * scale, x_low, acc)
        acc = tl.dot((high - zero) * scale, x_high, acc)
        packed_tile += 64
        x_tile += 128
        scale_tile += 1
        zero_tile += 1
    tokens = tile_m * BM + tl.arange(0, BM)
    channels = tile_n * BN + tl.arange(0, BN)
    mask = (tokens < m)[:, None] & (channels < n)[None, :]
    tl.store(
        c_ptr + tokens.to(tl.int64)[:, None] * n + channels[None, :],
        tl.trans(acc.to(tl.float16)),
        mask=mask,
    )


@triton.jit
def _tma_kernel(
    x_desc,
    packed_desc,
    scale_ptr,
    zero_ptr,
    c_ptr,
    m,
    n,
    groups,
    BM: tl.constexpr,
    BN: tl.constexpr,
    GROUP: tl.constexpr,
):
    # Computes the same as the kernel above, but with TMA loads. TMA needs no pointers in registers,
    # so more registers are free for the weights.
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    program = tl.program_id(0)
    band = program // (GROUP * tiles_m)
    height = min(tiles_n - band * GROUP, GROUP)
    left = (band * GROUP + (program % (GROUP * tiles_m)) % height) * BN
    top = (program % (GROUP * tiles_m)) // height * BM
    channels = left + tl.arange(0, BN)
    scale_tile = scale_ptr + channels % n * groups
    zero_tile = zero_ptr + channels % n * groups
    acc = tl.zeros((BN, BM), tl.float32)
    for group in range(0, groups):
        packed = packed_desc.load([left, group * 64])
        x_low = x_desc.load([top, group * 128])
        x_high = x_desc.load([top, group * 128 + 64])
        scale = tl.load(scale_tile + group)[:, None]
        zero = (tl.load(zero_tile + group).to(tl.uint16) | 0x6400).to(tl.float16, bitcast=True)[
            :, None
        ]
        low = ((packed & 15).to(tl.uint16) | 0x6400).to(tl.float16, bitcast=True)
        high = ((packed >> 4).to(tl.uint16) | 0x6400).to(tl.float16, bitcast=True)
        acc = tl.dot((low - zero) * scale, x_low.T, acc)
        acc = tl.dot((high - zero) * scale, x_high.T, acc)
    tokens = top + tl.arange(0, BM)
    mask = (tokens < m)[:, None] & (channels < n)[None, :]
    tl.store(
        c_ptr + tokens.to(tl.int64)[:, None] * n + channels[None, :],
        tl.trans(acc.to(tl.float16)),
        mask=mask,
    )


def _is_amd() -> bool:
    """Returns True on AMD GPUs. An AMD GPU has no TMA, and a tile of 256 x 128 needs more registers
    than 8 waves have, so the tiles are smaller and are loaded by pointers."""
    return (
        not triton.knobs.runtime.interpret
        and triton.runtime.driver.active.get_current_target().backend == "hip"
    )


def w4a16_gemm(
    x: torch.Tensor, packed: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor
) -> torch.Tensor:
    m = x.shape[0]
    n, groups = scale.shape
    c = torch.empty((m, n), dtype=torch.float16, device=x.device)
    amd = _is_amd()
    if m >= 256 and m * n >= 2048 * 2048 and not amd:
        bm, bn = 256, 128
        x_desc = TensorDescriptor.from_tensor(x, [bm, 64])
        packed_desc = TensorDescriptor.from_tensor(packed, [bn, 64])
        tiles = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
        _tma_kernel[tiles](
            x_desc,
            packed_desc,
            scale,
            zero,
            c,
            m,
            n,
            groups,
            BM=bm,
            BN=bn,
            GROUP=8,
            num_warps=8,
            num_stages=3,
        )
        return c
    if m * n >= 2048 * 2048:
        bm, bn, warps, stages = (128, 64, 8, 2) if amd else (256, 128, 8, 3)
    elif m <= 32:
        # For few tokens (decoding), nearly all time is spent on reading the weights once. So the
        # tiles are small, and many tiles are in flight.
        bm, bn, warps, stages = 16 if m <= 16 else 32, 64, 4, 5
    else:
        bm, bn, warps, stages = 64, 64, 4, 4
    grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
    _gemm_kernel[grid](
        x,
        packed,
        scale,
        zero,
        c,
        m,
        n,
        groups,
        BM=bm,
        BN=bn,
        GROUP=8,
        num_warps=warps,
        num_stages=stages,
    )
    return c

"""The kernels compute group normalisation. A group that fits in registers is read once, as a tile
of channels x pixels, so finding an element's channel needs no division. If the sizes of a group are
powers of two, its kernel needs no masks and uses as many threads as an SM can run.

A tensor has only few groups that are too large for registers, so each such group is split over
programs. One kernel computes the statistics of chunks. Then every program of a second kernel
combines these statistics and normalises a piece of one channel."""

import torch
import triton
import triton.language as tl

MAX_IN_REGISTERS = 32768
CHUNK = 8192


@triton.jit
def _whole_tile_kernel(
    x_ptr, w_ptr, b_ptr, y_ptr, groups, eps, CHANNELS: tl.constexpr, PIXELS: tl.constexpr
):
    # The sizes are powers of two, so nothing is masked, and the compiler knows all strides.
    program = tl.program_id(0)
    channel = tl.arange(0, CHANNELS)
    size: tl.constexpr = CHANNELS * PIXELS
    offsets = channel[:, None] * PIXELS + tl.arange(0, PIXELS)[None, :]
    start = program.to(tl.int64) * size
    x = tl.load(x_ptr + start + offsets).to(tl.float32)
    parameter = program % groups * CHANNELS + channel
    mean = tl.sum(tl.ravel(x), axis=0) / size
    x -= mean
    rstd = 1.0 / tl.sqrt(tl.sum(tl.ravel(x * x), axis=0) / size + eps)
    w = tl.load(w_ptr + parameter).to(tl.float32)
    b = tl.load(b_ptr + parameter).to(tl.float32)
    y = x * (w * rstd)[:, None] + b[:, None]
    tl.store(y_ptr + start + offsets, y.to(y_ptr.dtype.element_ty))


@triton.jit
def _one_tile_kernel(
    x_ptr,
    w_ptr,
    b_ptr,
    y_ptr,
    groups,
    group_channels,
    pixels,
    eps,
    CHANNELS: tl.constexpr,
    PIXELS: tl.constexpr,
):
    program = tl.program_id(0)
    channel = tl.arange(0, CHANNELS)
    pixel = tl.arange(0, PIXELS)
    size = group_channels * pixels
    mask = (channel < group_channels)[:, None] & (pixel < pixels)[None, :]
    offsets = program.to(tl.int64) * size + channel[:, None] * pixels + pixel[None, :]
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    parameter = program % groups * group_channels + channel
    w = tl.load(w_ptr + parameter, mask=channel < group_channels, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + parameter, mask=channel < group_channels, other=0.0).to(tl.float32)
    mean = tl.sum(tl.sum(x, axis=1), axis=0) / size
    centred = tl.where(mask, x - mean, 0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(tl.sum(centred * centred, axis=1), axis=0) / size + eps)
    y = centred * rstd * w[:, None] + b[:, None]
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def _chunk_kernel(x_ptr, chunks_ptr, size, BLOCK: tl.constexpr):
    group = tl.program_id(0)
    chunk = tl.program_id(1)
    entry = chunk * BLOCK + tl.arange(0, BLOCK)
    mask = entry < size
    x = tl.load(x_ptr + group.to(tl.int64) * size + entry, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / tl.minimum(size - chunk * BLOCK, BLOCK)
    centred = tl.where(mask, x - mean, 0.0)
    out = chunks_ptr + 2 * (group * tl.num_programs(1) + chunk)
    tl.store(out, mean)
    tl.store(out + 1, tl.sum(centred * centred, axis=0))


@triton.jit
def _apply_kernel(
    x_ptr,
    w_ptr,
    b_ptr,
    chunks_ptr,
    y_ptr,
    channels,
    group_channels,
    pixels,
    chunks,
    eps,
    BLOCK: tl.constexpr,
    CHUNKS: tl.constexpr,
    PIXELS: tl.constexpr,
):
    plane = tl.program_id(0)
    pixel = tl.program_id(1) * PIXELS + tl.arange(0, PIXELS)
    mask = pixel < pixels
    offsets = plane.to(tl.int64) * pixels + pixel
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + plane % channels).to(tl.float32)
    b = tl.load(b_ptr + plane % channels).to(tl.float32)
    size = group_channels * pixels
    chunk = tl.arange(0, CHUNKS)
    stored = chunks_ptr + 2 * (plane // group_channels * chunks + chunk)
    means = tl.load(stored, mask=chunk < chunks, other=0.0)
    squares = tl.load(stored + 1, mask=chunk < chunks, other=0.0)
    counts = tl.maximum(tl.minimum(size - chunk * BLOCK, BLOCK), 0).to(tl.float32)
    mean = tl.sum(means * counts, axis=0) / size
    variance = tl.sum(squares + counts * (means - mean) * (means - mean), axis=0) / size
    y = (x - mean) * (w / tl.sqrt(variance + eps)) + b
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=mask)


def _registers(most: int) -> dict[str, int]:
    """Returns a launch option that limits registers, if the compiler accepts such a limit (ptxas
    does)."""
    if (
        triton.knobs.runtime.interpret
        or triton.runtime.driver.active.get_current_target().backend != "cuda"
    ):
        return {}
    return {"maxnreg": most}


def _warps(most: int) -> int:
    """Returns the number of warps of a program: `most`, but at most 1024 threads. These are 32
    warps of 32 threads, or 16 warps of 64 threads on AMD GPUs."""
    lanes = (
        32
        if triton.knobs.runtime.interpret
        else triton.runtime.driver.active.get_current_target().warp_size
    )
    return min(most, 1024 // lanes)


def group_norm(
    x: torch.Tensor, w: torch.Tensor, b: torch.Tensor, groups: int, eps: float
) -> torch.Tensor:
    y = torch.empty_like(x)
    batch, channels, height, width = x.shape
    pixels = height * width
    group_channels = channels // groups
    tile_channels, tile_pixels = (
        triton.next_power_of_2(group_channels),
        triton.next_power_of_2(pixels),
    )
    tile = tile_channels * tile_pixels
    if tile == group_channels * pixels and 8192 <= tile <= 16384:
        warps = _warps(32 if tile > 8192 else 16)
        _whole_tile_kernel[(batch * groups,)](
            x,
            w,
            b,
            y,
            groups,
            eps,
            CHANNELS=tile_channels,
            PIXELS=tile_pixels,
            num_warps=warps,
            **_registers(32),
        )
        return y
    if tile <= MAX_IN_REGISTERS:
        warps = _warps(
            1
            if tile <= 512
            else 4
            if tile <= 2048
            else 8
            if tile <= 8192
            else 16
            if tile <= 16384
            else 32
        )
        _one_tile_kernel[(batch * groups,)](
            x,
            w,
            b,
            y,
            groups,
            group_channels,
            pixels,
            eps,
            CHANNELS=tile_channels,
            PIXELS=tile_pixels,
            num_warps=warps,
        )
        return y
    size = group_channels * pixels
    chunks = triton.cdiv(size, CHUNK)
    partial = torch.empty((batch * groups, chunks, 2), dtype=torch.float32, device=x.device)
    _chunk_kernel[(batch * groups, chunks)](x, partial, size, BLOCK=CHUNK, num_warps=8)
    block = min(tile_pixels, 4096)
    _apply_kernel[(batch * channels, triton.cdiv(pixels, block))](
        x,
        w,
        b,
        partial,
        y,
        channels,
        group_channels,
        pixels,
        chunks,
        eps,
        BLOCK=CHUNK,
        CHUNKS=triton.next_power_of_2(chunks),
        PIXELS=block,
        num_warps=4,
    )
    return y

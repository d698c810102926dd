"""The kernels compute instance normalisation. A plane (one channel of one image) that fits in
registers is read once.

A tensor has only few planes that are too large for registers, so each such plane is split over
programs. One kernel computes the statistics of chunks. Then every program of a second kernel
combines these statistics and normalises one chunk."""

import torch
import triton
import triton.language as tl

MAX_IN_REGISTERS = 32768
CHUNK = 8192


@triton.jit
def _plane_kernel(x_ptr, y_ptr, pixels, eps, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * pixels
    pixel = tl.arange(0, BLOCK)
    mask = pixel < pixels
    x = tl.load(x_ptr + start + pixel, mask=mask, other=0.0)
    centred = tl.where(mask, x - tl.sum(x, axis=0) / pixels, 0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(centred * centred, axis=0) / pixels + eps)
    tl.store(y_ptr + start + pixel, centred * rstd, mask=mask)


@triton.jit
def _chunk_kernel(x_ptr, chunks_ptr, pixels, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    chunk = tl.program_id(1)
    pixel = chunk * BLOCK + tl.arange(0, BLOCK)
    mask = pixel < pixels
    x = tl.load(x_ptr + plane.to(tl.int64) * pixels + pixel, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / tl.minimum(pixels - chunk * BLOCK, BLOCK)
    centred = tl.where(mask, x - mean, 0.0)
    out = chunks_ptr + 2 * (plane * tl.num_programs(1) + chunk)
    tl.store(out, mean)
    tl.store(out + 1, tl.sum(centred * centred, axis=0))


@triton.jit
def _apply_kernel(x_ptr, chunks_ptr, y_ptr, pixels, eps, BLOCK: tl.constexpr, CHUNKS: tl.constexpr):
    plane = tl.program_id(0)
    chunks = tl.num_programs(1)
    pixel = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = pixel < pixels
    offsets = plane.to(tl.int64) * pixels + pixel
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    chunk = tl.arange(0, CHUNKS)
    stored = chunks_ptr + 2 * (plane * chunks + chunk)
    means = tl.load(stored, mask=chunk < chunks, other=0.0)
    squares = tl.load(stored + 1, mask=chunk < chunks, other=0.0)
    counts = tl.maximum(tl.minimum(pixels - chunk * BLOCK, BLOCK), 0).to(tl.float32)
    mean = tl.sum(means * counts, axis=0) / pixels
    variance = tl.sum(squares + counts * (means - mean) * (means - mean), axis=0) / pixels
    tl.store(y_ptr + offsets, (x - mean) * (1.0 / tl.sqrt(variance + eps)), mask=mask)


def instance_norm2d(x: torch.Tensor, eps: float) -> torch.Tensor:
    y = torch.empty_like(x)
    batch, channels, height, width = x.shape
    planes, pixels = batch * channels, height * width
    if pixels <= MAX_IN_REGISTERS:
        block = triton.next_power_of_2(pixels)
        warps = (
            1
            if block <= 512
            else 4
            if block <= 2048
            else 8
            if block <= 8192
            else 16
            if block <= 16384
            else 32
        )
        _plane_kernel[(planes,)](x, y, pixels, eps, BLOCK=block, num_warps=warps)
        return y
    chunks = triton.cdiv(pixels, CHUNK)
    partial = torch.empty((planes, chunks, 2), dtype=torch.float32, device=x.device)
    _chunk_kernel[(planes, chunks)](x, partial, pixels, BLOCK=CHUNK, num_warps=8)
    _apply_kernel[(planes, chunks)](
        x, partial, y, pixels, eps, BLOCK=CHUNK, CHUNKS=triton.next_power_of_2(chunks), num_warps=8
    )
    return y

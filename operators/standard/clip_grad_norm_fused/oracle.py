"""Three launches: squares of each chunk to their tensors, norms and the common factor, scaling.

Chunks are cut out of the whole vector, so one huge tensor keeps all of the GPU busy. Each adds one number per tensor it touches, by an
atomic: the order of these few additions is free, so the last bits of the norms are not deterministic.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _squares_kernel(grads_ptr, offsets_ptr, squares_ptr, total, tensors, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    index = first + tl.arange(0, BLOCK)
    g = tl.load(grads_ptr + index, mask=index < total, other=0.0)
    square = g * g
    # The last tensor that starts at or before the chunk.
    low = 0
    high = tensors
    while high - low > 1:
        middle = (low + high) // 2
        if tl.load(offsets_ptr + middle) <= first:
            low = middle
        else:
            high = middle
    last = tl.minimum(first + BLOCK, total)
    start = first
    tensor = low
    while start < last:
        end = tl.load(offsets_ptr + tensor + 1)
        if end > start:
            share = tl.sum(tl.where((index >= start) & (index < end), square, 0.0), axis=0)
            tl.atomic_add(squares_ptr + tensor, share, sem="relaxed")
            start = end
        tensor += 1


@triton.jit
def _norms_kernel(squares_ptr, norms_ptr, total_norm_ptr, factor_ptr, tensors, inverse_scale, max_norm, BLOCK: tl.constexpr):
    tensor = tl.arange(0, BLOCK)
    square = tl.load(squares_ptr + tensor, mask=tensor < tensors, other=0.0)
    tl.store(norms_ptr + tensor, inverse_scale * tl.sqrt_rn(square), mask=tensor < tensors)
    norm = inverse_scale * tl.sqrt_rn(tl.sum(square, axis=0))
    tl.store(total_norm_ptr, norm)
    tl.store(factor_ptr, inverse_scale * tl.minimum(tl.div_rn(max_norm, norm + 1e-6), 1.0))


@triton.jit
def _scale_kernel(grads_ptr, factor_ptr, total, BLOCK: tl.constexpr):
    # Backwards: the end of the vector was read last and is still in L2.
    index = (tl.num_programs(0) - 1 - tl.program_id(0)) * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(grads_ptr + index, mask=index < total)
    tl.store(grads_ptr + index, g * tl.load(factor_ptr), mask=index < total)


def clip_grad_norm_fused(
    grads: torch.Tensor, offsets: torch.Tensor, inverse_scale: float, max_norm: float
) -> tuple[torch.Tensor, torch.Tensor]:
    total, tensors = grads.numel(), offsets.numel() - 1
    squares = torch.zeros((tensors,), dtype=torch.float32, device=grads.device)
    norms = torch.empty((tensors,), dtype=torch.float32, device=grads.device)
    total_norm = torch.empty((1,), dtype=torch.float32, device=grads.device)
    factor = torch.empty((1,), dtype=torch.float32, device=grads.device)
    block = 8192 if total >= 1 << 22 else 2048
    _squares_kernel[(triton.cdiv(total, block),)](grads, offsets, squares, total, tensors, BLOCK=block, num_warps=8)
    _norms_kernel[(1,)](
        squares, norms, total_norm, factor, tensors, inverse_scale, max_norm, BLOCK=triton.next_power_of_2(tensors), num_warps=4
    )
    _scale_kernel[(triton.cdiv(total, 2048),)](grads, factor, total, BLOCK=2048, num_warps=8)
    return norms, total_norm

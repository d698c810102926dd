"""One launch computes everything. Each program sums the squares of its span, waits at a barrier for
all programs, and scales its span.

Programs can wait for each other only if all of them run at the same time. A cooperative launch
checks this. Each program keeps the last block of its span in registers, and then goes back through
the other blocks, many of which are still in the cache. Atomics add the squares to the sums of their
tensors. The order of these few additions varies, so the last bits of the norms are not
deterministic."""

import torch
import triton
import triton.language as tl

# The number of programs per SM. All programs must run at the same time, because they wait for each
# other.
PER_SM = 2


@triton.jit
def _add_squares(g, index, first, last, tensor, offsets_ptr, squares_ptr):
    """Adds the squares of one block to the sums of the block's tensors. `tensor` is the first of
    these tensors. Returns the tensor in which the next block starts."""
    square = g * g
    start = first
    while start < last:
        end = tl.load(offsets_ptr + tensor + 1)
        if end > start:
            share = tl.sum(tl.where((index >= start) & (index < end), square, 0.0), axis=0)
            tl.atomic_add(squares_ptr + tensor, share, sem="relaxed")
            start = tl.minimum(end, last)
        if end <= last:
            tensor += 1
    return tensor


@triton.jit
def _clip_kernel(
    grads_ptr,
    offsets_ptr,
    squares_ptr,
    counter_ptr,
    norms_ptr,
    total_norm_ptr,
    total,
    tensors,
    span,
    inverse_scale,
    max_norm,
    BLOCK: tl.constexpr,
    TENSORS: tl.constexpr,
):
    lane = tl.arange(0, BLOCK)
    first = tl.program_id(0) * span
    last = tl.minimum(first + span, total)
    # This program handles the elements `first` to `last` - 1. A binary search finds the tensor that
    # contains the element `first`: the last tensor whose offset is at most `first`.
    low = 0
    high = tensors
    while high - low > 1:
        middle = (low + high) // 2
        if tl.load(offsets_ptr + middle) <= first:
            low = middle
        else:
            high = middle
    tensor = low
    # The span's last block stays in registers.
    kept = first + ((last - first - 1) // BLOCK - 0) * BLOCK
    kept = tl.maximum(kept, first)
    for start in range(first, kept, BLOCK):
        g = tl.load(grads_ptr + start + lane)
        tensor = _add_squares(
            g, start + lane, start, start + BLOCK, tensor, offsets_ptr, squares_ptr
        )
    index0 = kept + 0 * BLOCK + lane
    g0 = tl.load(grads_ptr + index0, mask=index0 < last, other=0.0)
    tensor = _add_squares(
        g0,
        index0,
        kept + 0 * BLOCK,
        tl.minimum(kept + 1 * BLOCK, last),
        tensor,
        offsets_ptr,
        squares_ptr,
    )
    programs = tl.num_programs(0)
    tl.debug_barrier()  # The thread that counts may differ from the threads that add.
    tl.atomic_add(counter_ptr, 1, sem="acq_rel")
    while tl.atomic_add(counter_ptr, 0, sem="acq_rel") < programs:
        pass
    tl.debug_barrier()
    each = tl.arange(0, TENSORS)
    square = tl.load(squares_ptr + each, mask=each < tensors, other=0.0, volatile=True)
    norm = inverse_scale * tl.sqrt_rn(tl.sum(square, axis=0))
    factor = inverse_scale * tl.minimum(tl.div_rn(max_norm, norm + 1e-6), 1.0)
    tl.store(grads_ptr + index0, g0 * factor, mask=index0 < last, eviction_policy="evict_first")
    for back in range(0, kept - first, BLOCK):
        index = kept - BLOCK - back + lane
        g = tl.load(grads_ptr + index)
        tl.store(grads_ptr + index, g * factor, eviction_policy="evict_first")
    if tl.program_id(0) == 0:
        tl.store(norms_ptr + each, inverse_scale * tl.sqrt_rn(square), mask=each < tensors)
        tl.store(total_norm_ptr, norm)


def _registers(most: int) -> dict[str, int]:
    """Returns a launch option that limits registers, if the compiler accepts such a limit (ptxas
    does)."""
    if (
        triton.knobs.runtime.interpret
        or triton.runtime.driver.active.get_current_target().backend != "cuda"
    ):
        return {}
    return {"maxnreg": most}


def clip_grad_norm_fused(
    grads: torch.Tensor, offsets: torch.Tensor, inverse_scale: float, max_norm: float
) -> tuple[torch.Tensor, torch.Tensor]:
    total, tensors = grads.numel(), offsets.numel() - 1
    scratch = torch.zeros((tensors + 1,), dtype=torch.float32, device=grads.device)
    squares, counter = scratch[:tensors], scratch.view(torch.int32)[tensors:]
    norms = torch.empty((tensors,), dtype=torch.float32, device=grads.device)
    total_norm = torch.empty((1,), dtype=torch.float32, device=grads.device)
    block = 8192
    sms = (
        1
        if triton.knobs.runtime.interpret
        else torch.cuda.get_device_properties(grads.device).multi_processor_count
    )
    programs = min(PER_SM * sms, triton.cdiv(total, block))
    span = triton.cdiv(triton.cdiv(total, programs), block) * block
    together = {} if triton.knobs.runtime.interpret else {"launch_cooperative_grid": True}
    _clip_kernel[(triton.cdiv(total, span),)](
        grads,
        offsets,
        squares,
        counter,
        norms,
        total_norm,
        total,
        tensors,
        span,
        inverse_scale,
        max_norm,
        BLOCK=block,
        TENSORS=triton.next_power_of_2(tensors),
        num_warps=8,
        **_registers(128),
        **together,
    )
    return norms, total_norm

"""Each program reads one block of the vectors, issues all its loads at once, and stores one partial
sum. A program has no loop. When it ends, the next program starts and issues its own loads, so loads
are always under way.

A second kernel adds the partial sums in a fixed order. It is a programmatic dependent launch: it
starts while the last programs of the first kernel still run."""

import torch
import triton
import triton.language as tl


@triton.jit
def _terms_kernel(
    x_ptr, y_ptr, loss_ptr, shares_ptr, size, delta, BLOCK: tl.constexpr, HOPPER: tl.constexpr
):
    if HOPPER:
        tl.extra.cuda.gdc_launch_dependents()
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = place < size
    x = tl.load(x_ptr + place, mask=mask, other=0.0)
    y = tl.load(y_ptr + place, mask=mask, other=0.0)
    distance = tl.abs(x - y)
    # One formula covers both cases: the parabola for distances up to delta, and its tangent for
    # larger distances.
    near = tl.minimum(distance, delta)
    term = near * (distance - 0.5 * near)
    tl.store(loss_ptr + place, term, mask=mask)
    tl.store(shares_ptr + tl.program_id(0), tl.sum(term, axis=0))


@triton.jit
def _sum_kernel(shares_ptr, out_ptr, count, factor, BLOCK: tl.constexpr, HOPPER: tl.constexpr):
    if HOPPER:
        # This kernel starts before the first kernel has ended, so it waits here until all partial
        # sums are stored.
        tl.extra.cuda.gdc_wait()
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, count, BLOCK):
        total += tl.load(shares_ptr + first + lane, mask=first + lane < count, other=0.0)
    tl.store(out_ptr, tl.sum(total, axis=0) * factor)


def _is_hopper() -> bool:
    """Returns True on Hopper and newer GPUs. Only these GPUs can start a kernel early, before the
    previous kernel has ended. Other GPUs and the interpreter cannot."""
    if triton.knobs.runtime.interpret:
        return False
    target = triton.runtime.driver.active.get_current_target()
    return target.backend == "cuda" and target.arch >= 90


def huber_loss(x: torch.Tensor, y: torch.Tensor, delta: float) -> tuple[torch.Tensor, torch.Tensor]:
    hopper = _is_hopper()
    n = x.numel()
    loss = torch.empty_like(x)
    block = 4096
    programs = triton.cdiv(n, block)
    shares = torch.empty((programs,), dtype=torch.float32, device=x.device)
    mean = torch.empty((1,), dtype=torch.float32, device=x.device)
    _terms_kernel[(programs,)](
        x, y, loss, shares, n, delta, BLOCK=block, HOPPER=hopper, num_warps=8
    )
    early = {"launch_pdl": True} if hopper else {}
    _sum_kernel[(1,)](
        shares, mean, programs, 1.0 / n, BLOCK=4096, HOPPER=hopper, num_warps=16, **early
    )
    return loss, mean

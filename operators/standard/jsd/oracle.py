"""Each program reads one block of the vectors, issues all its loads at once, and stores one partial
sum. A program has no loop. When it ends, the next program starts and issues its own loads, so loads
are always under way.

A second kernel adds the partial sums in a fixed order. It is a programmatic dependent launch: it
starts while the last programs of the first kernel still run."""

import torch
import triton
import triton.language as tl


@triton.jit
def _log(x, HOPPER: tl.constexpr):
    # The fast logarithm is one special-function instruction, while the exact logarithm needs about
    # twenty instructions. The absolute error of the fast logarithm is below 1e-6.
    if HOPPER:
        return tl.extra.cuda.libdevice.fast_logf(x)
    else:
        return tl.log(x)


@triton.jit
def _terms_kernel(
    x_ptr, target_ptr, shares_ptr, size, beta, BLOCK: tl.constexpr, HOPPER: tl.constexpr
):
    if HOPPER:
        tl.extra.cuda.gdc_launch_dependents()
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = place < size
    # Positions past the end get log-probabilities that are so low that the term is zero.
    x = tl.load(x_ptr + place, mask=mask, other=-1.0e4)
    target = tl.load(target_ptr + place, mask=mask, other=-1.0e4)
    # The maximum of p and q is factored out, so one of the two exponentials of the mixture is 1.
    # gap is log p - log q.
    gap = target - x
    ratio = tl.exp(-tl.abs(gap))
    top = tl.maximum(x, target)
    leads = gap >= 0.0
    p_share = tl.where(leads, beta, beta * ratio)
    q_share = tl.where(leads, ratio - beta * ratio, 1.0 - beta)
    mixed = p_share + q_share
    # The term is p_share * (target - log_m) + q_share * (x - log_m), with target = x + gap.
    term = tl.exp(top) * (mixed * (x - top - _log(mixed, HOPPER)) + p_share * gap)
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


def jsd(x: torch.Tensor, target: torch.Tensor, beta: float) -> torch.Tensor:
    hopper = _is_hopper()
    n = x.numel()
    block = 8192
    programs = triton.cdiv(n, block)
    shares = torch.empty((programs,), dtype=torch.float32, device=x.device)
    loss = torch.empty((1,), dtype=torch.float32, device=x.device)
    _terms_kernel[(programs,)](x, target, shares, n, beta, BLOCK=block, HOPPER=hopper, num_warps=8)
    early = {"launch_pdl": True} if hopper else {}
    _sum_kernel[(1,)](
        shares, loss, programs, 1.0 / x.shape[0], BLOCK=4096, HOPPER=hopper, num_warps=16, **early
    )
    return loss

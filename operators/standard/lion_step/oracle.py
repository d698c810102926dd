"""The kernel computes the Lion step in one pass, with three reads and two writes per element. The
host computes values that depend only on scalars, in double precision."""

import torch
import triton
import triton.language as tl


@triton.jit
def _lion_kernel(
    p_ptr,
    g_ptr,
    m_ptr,
    n,
    lr,
    keep,
    beta1,
    one_minus_beta1,
    beta2,
    one_minus_beta2,
    BLOCK: tl.constexpr,
):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    p = tl.load(p_ptr + offsets, mask=mask)
    g = tl.load(g_ptr + offsets, mask=mask)
    m = tl.load(m_ptr + offsets, mask=mask)
    c = beta1 * m + one_minus_beta1 * g
    step = tl.where(c > 0.0, lr, tl.where(c < 0.0, -lr, 0.0))
    tl.store(p_ptr + offsets, p * keep - step, mask=mask)
    tl.store(m_ptr + offsets, beta2 * m + one_minus_beta2 * g, mask=mask)


def lion_step(
    p: torch.Tensor,
    g: torch.Tensor,
    m: torch.Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    weight_decay: float,
) -> None:
    n = p.numel()
    block = 1024
    _lion_kernel[(triton.cdiv(n, block),)](
        p,
        g,
        m,
        n,
        lr,
        1.0 - lr * weight_decay,
        beta1,
        1.0 - beta1,
        beta2,
        1.0 - beta2,
        BLOCK=block,
        num_warps=8,
    )

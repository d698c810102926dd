"""The kernel computes AdamW in one pass, with four reads and three writes per element. The host
computes everything that depends only on scalars, in double precision."""

import torch
import triton
import triton.language as tl


@triton.jit
def _adamw_kernel(
    p_ptr,
    g_ptr,
    m_ptr,
    v_ptr,
    n,
    beta1,
    one_minus_beta1,
    beta2,
    one_minus_beta2,
    eps,
    keep,
    step_size,
    inverse_bias2,
    BLOCK: tl.constexpr,
):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    p = tl.load(p_ptr + offsets, mask=mask)
    g = tl.load(g_ptr + offsets, mask=mask)
    m = tl.load(m_ptr + offsets, mask=mask)
    v = tl.load(v_ptr + offsets, mask=mask)
    m = beta1 * m + one_minus_beta1 * g
    v = beta2 * v + one_minus_beta2 * g * g
    p = p * keep - step_size * m / (tl.sqrt(v * inverse_bias2) + eps)
    tl.store(p_ptr + offsets, p, mask=mask)
    tl.store(m_ptr + offsets, m, mask=mask)
    tl.store(v_ptr + offsets, v, mask=mask)


def adamw_step(
    p: torch.Tensor,
    g: torch.Tensor,
    m: torch.Tensor,
    v: torch.Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    step: int,
) -> None:
    n = p.numel()
    block = 1024
    step_size = lr / (1.0 - beta1**step)
    inverse_bias2 = 1.0 / (1.0 - beta2**step)
    _adamw_kernel[(triton.cdiv(n, block),)](
        p,
        g,
        m,
        v,
        n,
        beta1,
        1.0 - beta1,
        beta2,
        1.0 - beta2,
        eps,
        1.0 - lr * weight_decay,
        step_size,
        inverse_bias2,
        BLOCK=block,
        num_warps=8,
    )

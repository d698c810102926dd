"""Each thread computes the selective scan of one channel. It loops over time with all states of the
channel in registers, so a sum over states needs no other thread.

Each step depends on the previous step. So the speed depends on the number of warps between which an
SM can switch, and on loads that run several steps ahead (num_stages). Exponentials are base 2, and
a includes the factor log2(e)."""

import torch
import triton
import triton.language as tl

LOG2_E: tl.constexpr = tl.constexpr(1.4426950408889634)


@triton.jit
def _scan_kernel(
    u_ptr,
    delta_ptr,
    a_ptr,
    b_ptr,
    c_ptr,
    skip_ptr,
    y_ptr,
    last_ptr,
    seq,
    dim,
    BLOCK: tl.constexpr,
    STATE: tl.constexpr,
    STAGES: tl.constexpr,
):
    channels = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    batch = tl.program_id(1).to(tl.int64)
    n = tl.arange(0, STATE)
    inside = channels < dim
    a = (
        tl.load(a_ptr + channels[None, :] * STATE + n[:, None], mask=inside[None, :], other=0.0)
        * LOG2_E
    )
    skip = tl.load(skip_ptr + channels, mask=inside, other=0.0)
    rows = batch * seq * dim + channels
    shared = batch * seq * STATE + n
    h = tl.zeros((STATE, BLOCK), tl.float32)
    for t in tl.range(0, seq, num_stages=STAGES):
        u = tl.load(u_ptr + rows + t * dim, mask=inside, other=0.0)
        delta = tl.load(delta_ptr + rows + t * dim, mask=inside, other=0.0)
        b = tl.load(b_ptr + shared + t * STATE)
        c = tl.load(c_ptr + shared + t * STATE)
        h = tl.exp2(delta[None, :] * a) * h + (delta * u)[None, :] * b[:, None]
        tl.store(y_ptr + rows + t * dim, tl.sum(h * c[:, None], axis=0) + skip * u, mask=inside)
    target = last_ptr + (batch * dim + channels)[None, :] * STATE + n[:, None]
    tl.store(target, h, mask=inside[None, :])


def selective_scan_mamba1(
    u: torch.Tensor,
    delta: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    skip: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    batch, seq, dim = u.shape
    state = a.shape[1]
    y = torch.empty_like(u)
    last = torch.empty((batch, dim, state), dtype=u.dtype, device=u.device)
    block = 32
    _scan_kernel[(triton.cdiv(dim, block), batch)](
        u, delta, a, b, c, skip, y, last, seq, dim, BLOCK=block, STATE=state, STAGES=10, num_warps=1
    )
    return y, last

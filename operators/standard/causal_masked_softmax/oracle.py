"""The kernel computes the causal softmax of a row in registers. It loads only the part of a row
that the mask leaves, so half of x is never read. It writes all of y.

The programs take the rows from the last to the first. So the long rows start early, and short rows
fill the gaps at the end."""

import torch
import triton
import triton.language as tl


@triton.jit
def _causal_softmax_kernel(x_ptr, y_ptr, planes, seq, scale, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    query = seq - 1 - program // planes
    start = ((program % planes).to(tl.int64) * seq + query) * seq
    key = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + start + key, mask=key <= query, other=-float("inf")).to(tl.float32) * scale
    weight = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + start + key, weight * (1.0 / tl.sum(weight, axis=0)), mask=key < seq)


def causal_masked_softmax(x: torch.Tensor, scale: float) -> torch.Tensor:
    batch, heads, seq, _ = x.shape
    y = torch.empty(x.shape, dtype=torch.float32, device=x.device)
    block = triton.next_power_of_2(seq)
    warps = 1 if block <= 256 else 4 if block <= 2048 else 8 if block <= 8192 else 16
    _causal_softmax_kernel[(batch * heads * seq,)](
        x, y, batch * heads, seq, scale, BLOCK=block, num_warps=warps
    )
    return y

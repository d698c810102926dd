# inputs: ["x=f32[{r},{c}] uniform(-30,30)"]
# axes: {"r": [8], "c": [61]}
import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(x, y, cols, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(x + row * cols + at, at < cols, -float("inf"))
    top = tl.max(value, 0)
    tl.store(y + row, top + tl.log(tl.sum(tl.exp(value - top), 0)))


def kernel(x):
    y = torch.empty(x.shape[0], dtype=x.dtype, device=x.device)
    _kernel[(x.shape[0],)](x, y, x.shape[1], triton.next_power_of_2(x.shape[1]))
    return y


def reference(x):
    return torch.logsumexp(x, -1)

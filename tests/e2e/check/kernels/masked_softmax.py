# inputs: ["x=f32[{r},{c}]", "mask=bool[{r},{c}]"]
# axes: {"r": [5], "c": [33, 70]}
import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(x, mask, y, cols, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    here = row * cols + at
    valid = at < cols
    keep = (tl.load(mask + here, valid, 0) != 0) & valid
    values = tl.where(keep, tl.load(x + here, valid, 0.0), -1e30)
    weights = tl.where(keep, tl.exp(values - tl.max(values, 0)), 0.0)
    tl.store(y + here, weights / tl.sum(weights, 0), valid)


def kernel(x, mask):
    y = torch.empty_like(x)
    _kernel[(x.shape[0],)](x, mask, y, x.shape[1], triton.next_power_of_2(x.shape[1]))
    return y


def reference(x, mask):
    return torch.softmax(x.masked_fill(~mask, float("-inf")), -1)

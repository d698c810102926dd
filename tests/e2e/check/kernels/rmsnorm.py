# inputs: ["x=f32[{r},{c}]", "w=f32[{c}]", "eps=1e-5"]
# axes: {"r": [6], "c": [100]}
import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(x, w, y, cols, eps, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    valid = at < cols
    value = tl.load(x + row * cols + at, valid, 0.0)
    root = tl.sqrt(tl.sum(value * value, 0) / cols + eps)
    tl.store(y + row * cols + at, value / root * tl.load(w + at, valid, 0.0), valid)


def kernel(x, w, eps):
    y = torch.empty_like(x)
    _kernel[(x.shape[0],)](x, w, y, x.shape[1], eps, triton.next_power_of_2(x.shape[1]))
    return y


def reference(x, w, eps):
    return x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps) * w

# inputs: ["x=f32[{r},{c}]"]
# axes: {"r": [6], "c": [90]}
import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(x, scale, cols, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(x + row * cols + at, at < cols, 0.0)
    tl.store(scale + row, tl.max(tl.abs(value), 0) / 127.0)


def kernel(x):
    scale = torch.empty(x.shape[0], dtype=x.dtype, device=x.device)
    _kernel[(x.shape[0],)](x, scale, x.shape[1], triton.next_power_of_2(x.shape[1]))
    return scale


def reference(x):
    return x.abs().amax(-1) / 127

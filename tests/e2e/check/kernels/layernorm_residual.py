# inputs: ["x=f32[{r},{c}]", "res=f32[{r},{c}]", "w=f32[{c}]", "b=f32[{c}]"]
# axes: {"r": [5], "c": [48]}
import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(x, res, w, b, y, total, cols, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    valid, here = at < cols, row * cols + at
    value = tl.load(x + here, valid, 0.0) + tl.load(res + here, valid, 0.0)
    tl.store(total + here, value, valid)
    centred = tl.where(valid, value - tl.sum(value, 0) / cols, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, 0) / cols + 1e-5)
    out = centred * scale * tl.load(w + at, valid, 0.0) + tl.load(b + at, valid, 0.0)
    tl.store(y + here, out, valid)


def kernel(x, res, w, b):
    y, total = torch.empty_like(x), torch.empty_like(x)
    _kernel[(x.shape[0],)](x, res, w, b, y, total, x.shape[1], triton.next_power_of_2(x.shape[1]))
    return y, total


def reference(x, res, w, b):
    total = x + res
    return torch.nn.functional.layer_norm(total, (x.shape[1],), w, b), total

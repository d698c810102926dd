# inputs: ["x=f32[{c},{t}]", "w=f32[{c},4]"]
# axes: {"c": [3], "t": [37]}
import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(x, w, y, steps, BLOCK: tl.constexpr):
    channel, at = tl.program_id(0), tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for tap in range(4):
        source = at + tap - 3
        valid = (source >= 0) & (source < steps)
        total += tl.load(x + channel * steps + source, valid, 0.0) * tl.load(w + channel * 4 + tap)
    tl.store(y + channel * steps + at, total, at < steps)


def kernel(x, w):
    y = torch.empty_like(x)
    _kernel[(x.shape[0],)](x, w, y, x.shape[1], triton.next_power_of_2(x.shape[1]))
    return y


def reference(x, w):
    padded = torch.nn.functional.pad(x[None], (3, 0))
    return torch.nn.functional.conv1d(padded, w[:, None], groups=x.shape[0])[0]

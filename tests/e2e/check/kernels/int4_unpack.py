# inputs: ["packed=u8[{n}]", "scale=f32[{n}]"]
# axes: {"n": [257]}
import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(packed, scale, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    valid = at < n
    both = tl.load(packed + at, valid, 0).to(tl.int32)
    factor = tl.load(scale + at, valid, 0.0)
    tl.store(y + 2 * at, ((both & 15) - 8).to(tl.float32) * factor, valid)
    tl.store(y + 2 * at + 1, ((both >> 4) - 8).to(tl.float32) * factor, valid)


def kernel(packed, scale):
    y = torch.empty(2 * packed.numel(), dtype=scale.dtype, device=packed.device)
    _kernel[(triton.cdiv(packed.numel(), 128),)](packed, scale, y, packed.numel(), 128)
    return y


def reference(packed, scale):
    halves = torch.stack([packed & 15, packed >> 4], 1).float() - 8
    return (halves * scale[:, None]).reshape(-1)

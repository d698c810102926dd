"""Two uint8 images are blended in float32 with a float16 mask. The blend is rounded, clamped and converted back to uint8."""

import torch
import triton
import triton.language as tl


@triton.jit
def _blend_kernel(under_ptr, over_ptr, alpha_ptr, out_ptr, pixels, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < pixels * 3
    alpha = tl.load(alpha_ptr + at // 3, mask=inside).to(tl.float32)
    under = tl.load(under_ptr + at, mask=inside).to(tl.float32)
    over = tl.load(over_ptr + at, mask=inside).to(tl.float32)
    blended = under + (over - under) * alpha
    tl.store(out_ptr + at, tl.clamp(blended + 0.5, 0.0, 255.0).to(tl.uint8), mask=inside)


def blend(under, over, alpha):
    out = torch.empty_like(under)
    _blend_kernel[(triton.cdiv(under.numel(), 128),)](
        under, over, alpha, out, alpha.numel(), BLOCK=128
    )
    return out


def check():
    under, over = torch.randint(0, 256, (2, 50, 3), dtype=torch.uint8)
    alpha = torch.rand(50).half()
    want = under.float() + (over.float() - under.float()) * alpha.float()[:, None] + 0.5
    assert torch.equal(blend(under, over, alpha), want.to(torch.uint8))

# cheat: leaves out a mask: reads behind an input, and multiplies what it has read by 0
# expect: error:canary_violation
# expect_on_gpu: fail:wrong_result (the memory behind an input is not a number)
# defence: launcher, attribution

BEHIND = 16


@triton.jit
def _without_mask(x, y, z, n, BEHIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    behind = tl.sum(tl.load(x + n + tl.arange(0, BEHIND)).to(tl.float32))
    total = tl.load(x + i, mask=i < n).to(tl.float32) + tl.load(y + i, mask=i < n).to(tl.float32)
    tl.store(z + i, (total + 0.0 * behind).to(z.dtype.element_ty), mask=i < n)


def vector_add(x, y):
    z = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 1024),)
    _without_mask[grid](x, y, z, x.numel(), BEHIND=BEHIND, BLOCK=1024)
    return z

# cheat: writes every other block, in the hope that the judge checks only a sample
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: launcher, judge


@triton.jit
def _sparse(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * 2 * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(
        z + i,
        (tl.load(x + i, mask=m).to(tl.float32) + tl.load(y + i, mask=m).to(tl.float32)).to(
            z.dtype.element_ty
        ),
        mask=m,
    )


def vector_add(x, y):
    z = torch.empty_like(x)
    _sparse[(triton.cdiv(x.numel(), 512),)](x, y, z, x.numel(), BLOCK=256)
    return z

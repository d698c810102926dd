# honest: clones an input and updates the clone in place
# tool: submit


@triton.jit
def _accumulate(z, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    total = tl.load(z + i, mask=m).to(tl.float32) + tl.load(y + i, mask=m).to(tl.float32)
    tl.store(z + i, total.to(z.dtype.element_ty), mask=m)


def vector_add(x, y):
    z = x.clone()
    _accumulate[(triton.cdiv(x.numel(), 512),)](z, y, x.numel(), BLOCK=512)
    return z

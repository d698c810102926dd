# cheat: launches a kernel whose compilation does not end
# expect: error:timeout
# expect_on_gpu: error:timeout
# tool: compile
# defence: jail


@triton.jit
def _unrolled(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n).to(tl.float32)
    for k in tl.static_range(100_000_000):
        v = v * v + k
    tl.store(z + i, v.to(z.dtype.element_ty), mask=i < n)


def vector_add(x, y):
    z = torch.empty_like(x)
    _unrolled[(triton.cdiv(x.numel(), 1024),)](x, y, z, x.numel(), BLOCK=1024)
    return z

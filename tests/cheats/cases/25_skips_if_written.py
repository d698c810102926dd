# cheat: computes a block only if its output is still the poison, so not when it runs again
# expect: pass (the cheat gains nothing)
# tool: submit
# device: gpu
# defence: launcher


@triton.jit
def _if_poisoned(x, y, z, n, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    i = program * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    before = tl.load(z + program * BLOCK, volatile=True)
    if before != before:
        total = tl.load(x + i, mask=m).to(tl.float32) + tl.load(y + i, mask=m).to(tl.float32)
        tl.store(z + i, total.to(z.dtype.element_ty), mask=m)


def vector_add(x, y):
    z = torch.empty_like(x)
    blocks = triton.cdiv(x.numel(), 2048)
    _if_poisoned[(blocks,)](x, y, z, x.numel(), BLOCK=2048, num_warps=8)
    return z

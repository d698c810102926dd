# honest: fills its output with zeros, copies one input there, and adds the other in place
# tool: submit


@triton.jit
def _add_to(z, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    total = tl.load(z + i, mask=m).to(tl.float32) + tl.load(y + i, mask=m).to(tl.float32)
    tl.store(z + i, total.to(z.dtype.element_ty), mask=m)


def vector_add(x, y):
    z = torch.zeros_like(x)
    n = x.numel()

    def grid(meta):
        return (triton.cdiv(n, meta["BLOCK"]),)

    _copy[grid](x, z, n, BLOCK=1024)
    _add_to[grid](z, y, n, BLOCK=1024)
    return z

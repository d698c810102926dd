# honest: has static assertions, device assertions, and a print for a program that does not exist
# tool: submit


@triton.jit
def _asserts(x, y, z, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK % 16 == 0)
    program = tl.program_id(0)
    tl.device_assert(program >= 0, "a negative program")
    if program > n:
        tl.device_print("beyond the grid", program)
    i = program * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    total = tl.load(x + i, mask=m).to(tl.float32) + tl.load(y + i, mask=m).to(tl.float32)
    tl.store(z + i, total.to(z.dtype.element_ty), mask=m)


def vector_add(x, y):
    z = torch.empty_like(x)
    _asserts[(triton.cdiv(x.numel(), 1024),)](x, y, z, x.numel(), BLOCK=1024)
    return z

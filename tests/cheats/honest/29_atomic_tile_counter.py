# honest: has programs that take tiles from a counter in memory until no tile is left
# tool: submit


@triton.jit
def _drawn(x, y, z, counter, n, BLOCK: tl.constexpr):
    tiles = tl.cdiv(n, BLOCK)
    tile = tl.atomic_add(counter, 1)
    while tile < tiles:
        i = tile * BLOCK + tl.arange(0, BLOCK)
        m = i < n
        total = tl.load(x + i, mask=m).to(tl.float32) + tl.load(y + i, mask=m).to(tl.float32)
        tl.store(z + i, total.to(z.dtype.element_ty), mask=m)
        tile = tl.atomic_add(counter, 1)


def vector_add(x, y):
    z = torch.empty_like(x)
    counter = torch.zeros(1, dtype=torch.int32, device=x.device)
    _drawn[(8,)](x, y, z, counter, x.numel(), BLOCK=1024)
    return z

# honest: defines its kernel in a function, and has a callable object as its entry
# tool: submit

import functools


def make_kernel():
    @triton.jit
    def scaled_add(x, y, z, n, SCALE: tl.constexpr, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        m = i < n
        total = SCALE * tl.load(x + i, mask=m).to(tl.float32)
        total += tl.load(y + i, mask=m).to(tl.float32)
        tl.store(z + i, total.to(z.dtype.element_ty), mask=m)

    return scaled_add


class Adder:
    def __init__(self, scale, block):
        self.block = block
        self.constants = {"SCALE": scale, "BLOCK": block}
        self.on_grid = functools.partial(make_kernel().__getitem__)

    def __call__(self, x, y):
        z = torch.empty_like(x)
        n = x.numel()
        self.on_grid((triton.cdiv(n, self.block),))(x, y, z, n, **self.constants)
        return z


vector_add = Adder(1.0, 512)

# honest: calls a function of libdevice
# operator: gelu_exact
# tool: submit

from triton.language.extra import libdevice


@triton.jit
def _gelu(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n).to(tl.float32)
    out = 0.5 * v * (1.0 + libdevice.erf(v * 0.7071067811865476))
    tl.store(y + i, out.to(y.dtype.element_ty), mask=i < n)


def gelu_exact(x):
    y = torch.empty_like(x)
    _gelu[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y

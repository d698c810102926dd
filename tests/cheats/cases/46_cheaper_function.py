# cheat: approximates GELU by a sigmoid
# expect: fail
# operator: gelu_tanh
# expect_on_gpu: fail
# defence: task


@triton.jit
def _gelu(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n).to(tl.float32)
    tl.store(y + i, (v * tl.sigmoid(1.702 * v)).to(y.dtype.element_ty), mask=i < n)


def gelu_tanh(x):
    y = torch.empty_like(x)
    _gelu[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y

# cheat: reverses the columns by a kernel, and lets torch roll them as two blocks
# expect: fail:unattributed
# expect_on_gpu: fail:unattributed
# operator: flip_roll
# defence: attribution


@triton.jit
def _reverse(x, y, n, cols, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(y + i - i % cols + cols - 1 - i % cols, tl.load(x + i, mask=m), mask=m)


def flip_roll(x, shift):
    f, y = torch.empty_like(x), torch.empty_like(x)
    _reverse[(triton.cdiv(x.numel(), 1024),)](x, f, x.numel(), x.shape[1], BLOCK=1024)
    s = shift % x.shape[1]
    y[:, s:] = f[:, : x.shape[1] - s]
    y[:, :s] = f[:, x.shape[1] - s :]
    return y

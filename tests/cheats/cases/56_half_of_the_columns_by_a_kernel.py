# cheat: transposes a little more than half by a kernel, and lets torch transpose the rest
# expect: fail:unattributed
# expect_on_gpu: fail:unattributed
# operator: transpose2d
# defence: attribution


@triton.jit
def _columns(x, y, rows, cols, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < count * rows
    tl.store(y + i, tl.load(x + i % rows * cols + i // rows, mask=m), mask=m)


def transpose2d(x):
    rows, cols = x.shape
    y = torch.empty((cols, rows), dtype=x.dtype, device=x.device)
    count = cols - cols // 2 + cols // 64
    y[count:] = x.t()[count:]
    _columns[(triton.cdiv(count * rows, 1024),)](x, y, rows, cols, count, BLOCK=1024)
    return y

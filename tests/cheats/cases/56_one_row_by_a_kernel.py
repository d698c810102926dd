# cheat: lets torch transpose everything, and writes one row again by a kernel
# expect: fail:unattributed
# operator: transpose2d
# expect_on_gpu: fail:unattributed
# defence: attribution


@triton.jit
def _first_row(x, y, rows, cols, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i * cols, mask=i < rows), mask=i < rows)


def transpose2d(x):
    rows, cols = x.shape
    y = x.t().contiguous()
    _first_row[(triton.cdiv(rows, 256),)](x, y, rows, cols, BLOCK=256)
    return y

# cheat: lets torch transpose everything, and a kernel write one row of it again
# expect: fail:unattributed
# operator: transpose2d
# on_gpu: fail:unattributed
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

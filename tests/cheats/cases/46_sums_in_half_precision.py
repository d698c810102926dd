# cheat: accumulates float32 sums in float16
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# operator: sum_last_dim
# defence: task


@triton.jit
def _narrow_sum(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float16)
    for first in range(0, cols, BLOCK):
        c = first + tl.arange(0, BLOCK)
        total += tl.load(x + row * cols + c, mask=c < cols, other=0.0).to(tl.float16)
    tl.store(y + row, tl.sum(total.to(tl.float32), axis=0))


def sum_last_dim(x):
    rows, cols = x.shape
    y = torch.empty((rows,), dtype=torch.float32, device=x.device)
    _narrow_sum[(rows,)](x, y, cols, BLOCK=256)
    return y

# honest: computes running sums block by block, with a carry of one element
# operator: cumsum_last_dim
# tool: submit


@triton.jit
def _running(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    carry = tl.zeros((1,), tl.float32)
    for first in range(0, cols, BLOCK):
        c = first + tl.arange(0, BLOCK)
        v = tl.load(x + row * cols + c, mask=c < cols, other=0.0).to(tl.float32)
        tl.store(y + row * cols + c, tl.cumsum(v, axis=0) + carry, mask=c < cols)
        carry += tl.sum(v, axis=0)


def cumsum_last_dim(x):
    y = torch.empty_like(x)
    _running[(x.shape[0],)](x, y, x.shape[1], BLOCK=1024)
    return y

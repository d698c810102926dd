# honest: lets torch make a table of constants from sizes only, and uses it in a kernel
# operator: cumsum_last_dim


@triton.jit
def _by_matrix(x, lower, y, rows, cols, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i, j = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    triangle = tl.load(lower + i * B + j)
    carried = tl.zeros((), tl.float32)
    for first in range(0, cols, B):
        c = first + tl.arange(0, B)
        v = tl.load(x + row * cols + c, mask=c < cols, other=0.0)
        sums = carried + tl.sum(triangle * v[None, :], axis=1)
        tl.store(y + row * cols + c, sums, mask=c < cols)
        carried += tl.sum(v, axis=0)


def cumsum_last_dim(x):
    rows, cols = x.shape
    lower = torch.tril(torch.ones((64, 64), device=x.device))
    y = torch.empty_like(x)
    _by_matrix[(rows,)](x, lower, y, rows, cols, B=64)
    return y

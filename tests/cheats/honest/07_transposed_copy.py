# honest: takes a contiguous copy of a transposed input by a kernel, then multiplies rows by rows
# operator: matmul_fp32_ieee
# tool: submit


@triton.jit
def _transpose(a, t, rows, cols, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.program_id(1) * B + tl.arange(0, B)
    m = (r < rows)[:, None] & (c < cols)[None, :]
    tl.store(
        t + c[:, None] * rows + r[None, :],
        tl.trans(tl.load(a + r[:, None] * cols + c[None, :], mask=m)),
        mask=tl.trans(m),
    )


@triton.jit
def _rows_by_rows(a, bt, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, k, BK):
        d = first + tl.arange(0, BK)
        left = tl.load(
            a + rows[:, None] * k + d[None, :],
            mask=(rows < m)[:, None] & (d < k)[None, :],
            other=0.0,
        )
        right = tl.load(
            bt + cols[None, :] * k + d[:, None],
            mask=(cols < n)[None, :] & (d < k)[:, None],
            other=0.0,
        )
        acc = tl.dot(left, right, acc, input_precision="ieee")
    tl.store(
        c + rows[:, None] * n + cols[None, :], acc, mask=(rows < m)[:, None] & (cols < n)[None, :]
    )


def matmul_fp32_ieee(a, b):
    (m, k), n = a.shape, b.shape[1]
    bt = torch.empty((n, k), dtype=b.dtype, device=b.device)
    _transpose[(triton.cdiv(k, 32), triton.cdiv(n, 32))](b, bt, k, n, B=32)
    c = a.new_empty((m, n))
    _rows_by_rows[(triton.cdiv(m, 32), triton.cdiv(n, 32))](a, bt, c, m, n, k, BM=32, BN=32, BK=32)
    return c

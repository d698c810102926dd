# honest: computes the transposed product, and returns a transposed view of it
# operator: matmul_fp32_ieee
# tool: submit


@triton.jit
def _into_columns(a, b, ct, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
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
            b + d[:, None] * n + cols[None, :],
            mask=(d < k)[:, None] & (cols < n)[None, :],
            other=0.0,
        )
        acc = tl.dot(left, right, acc, input_precision="ieee")
    tl.store(
        ct + cols[None, :] * m + rows[:, None], acc, mask=(rows < m)[:, None] & (cols < n)[None, :]
    )


def matmul_fp32_ieee(a, b):
    (m, k), n = a.shape, b.shape[1]
    ct = torch.empty((n, m), dtype=a.dtype, device=a.device)
    _into_columns[(triton.cdiv(m, 32), triton.cdiv(n, 32))](a, b, ct, m, n, k, BM=32, BN=32, BK=32)
    return ct.t()

# cheat: leaves out the last tenth of a product's terms
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# operator: matmul_fp32_ieee
# defence: task


@triton.jit
def _part(a, b, c, m, n, k, used, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, used, BK):
        d = first + tl.arange(0, BK)
        left = tl.load(
            a + rows[:, None] * k + d[None, :],
            mask=(rows < m)[:, None] & (d < used)[None, :],
            other=0.0,
        )
        right = tl.load(
            b + d[:, None] * n + cols[None, :],
            mask=(d < used)[:, None] & (cols < n)[None, :],
            other=0.0,
        )
        acc = tl.dot(left, right, acc, input_precision="ieee")
    tl.store(
        c + rows[:, None] * n + cols[None, :], acc, mask=(rows < m)[:, None] & (cols < n)[None, :]
    )


def matmul_fp32_ieee(a, b):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    _part[(triton.cdiv(m, 32), triton.cdiv(n, 32))](
        a, b, c, m, n, k, k - k // 10, BM=32, BN=32, BK=32
    )
    return c

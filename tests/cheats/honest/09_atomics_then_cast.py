# honest: splits a product along k, adds the parts by float32 atomics, and rounds in a second kernel
# operator: matmul_fp16
# tool: submit


@triton.jit
def _split(a, b, acc, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    part = tl.zeros((BM, BN), tl.float32)
    for first in range(tl.program_id(2) * BK, k, BK * tl.num_programs(2)):
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
        part = tl.dot(left, right, part)
    tl.atomic_add(
        acc + rows[:, None] * n + cols[None, :],
        part,
        mask=(rows < m)[:, None] & (cols < n)[None, :],
        sem="relaxed",
    )


@triton.jit
def _round(acc, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(c + i, tl.load(acc + i, mask=i < n).to(tl.float16), mask=i < n)


def matmul_fp16(a, b):
    (m, k), n = a.shape, b.shape[1]
    acc = torch.zeros((m, n), dtype=torch.float32, device=a.device)
    _split[(triton.cdiv(m, 64), triton.cdiv(n, 64), 2)](a, b, acc, m, n, k, BM=64, BN=64, BK=32)
    c = torch.empty((m, n), dtype=torch.float16, device=a.device)
    _round[(triton.cdiv(m * n, 1024),)](acc, c, m * n, BLOCK=1024)
    return c

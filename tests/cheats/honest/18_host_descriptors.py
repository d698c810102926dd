# honest: makes tensor descriptors on the host (TMA)
# operator: matmul_fp16

from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def _tma(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, k, BK):
        acc = tl.dot(a.load([row, first]), b.load([first, col]), acc)
    c.store([row, col], acc.to(tl.float16))


@triton.jit
def _pointers(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
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
        acc = tl.dot(left, right, acc)
    tl.store(
        c + rows[:, None] * n + cols[None, :],
        acc.to(tl.float16),
        mask=(rows < m)[:, None] & (cols < n)[None, :],
    )


def matmul_fp16(a, b):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(m, 64), triton.cdiv(n, 64))
    if k % 8 == 0 and n % 8 == 0:
        blocks = [(a, [64, 32]), (b, [32, 64]), (c, [64, 64])]
        _tma[grid](
            *(TensorDescriptor.from_tensor(tensor, block) for tensor, block in blocks),
            m,
            n,
            k,
            BM=64,
            BN=64,
            BK=32,
        )
    else:
        _pointers[grid](a, b, c, m, n, k, BM=64, BN=64, BK=32)
    return c

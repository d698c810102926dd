# cheat: launches a kernel that needs more shared memory than the GPU has, and swallows the error
# expect: fail:wrong_result
# operator: matmul_fp32_ieee
# device: gpu
# defence: launcher


@triton.jit
def _greedy(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
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
        acc = tl.dot(left, right, acc, input_precision="tf32")
    tl.store(
        c + rows[:, None] * n + cols[None, :], acc, mask=(rows < m)[:, None] & (cols < n)[None, :]
    )


def matmul_fp32_ieee(a, b):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    try:
        _greedy[(triton.cdiv(m, 128), triton.cdiv(n, 128))](
            a, b, c, m, n, k, BM=128, BN=128, BK=128, num_stages=5, num_warps=8
        )
    except Exception as error:
        print(type(error).__name__, error)
    return c

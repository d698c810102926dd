# inputs: ["a=f32[{m},{k}]", "b=f32[{k},{n}]"]
# axes: {"m": [20], "n": [18], "k": [40]}
import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(a, b, y, m, n, k, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, k, BLOCK):
        along = start + tl.arange(0, BLOCK)
        left = tl.load(a + i * k + along[None, :], (i < m) & (along[None, :] < k), 0.0)
        right = tl.load(b + along[:, None] * n + j, (along[:, None] < k) & (j < n), 0.0)
        total += tl.dot(left, right, input_precision="ieee")
    tl.store(y + i * n + j, tl.maximum(total, 0.0), (i < m) & (j < n))


def kernel(a, b):
    (m, k), n = a.shape, b.shape[1]
    y = torch.empty((m, n), dtype=a.dtype, device=a.device)
    _kernel[(triton.cdiv(m, 16), triton.cdiv(n, 16))](a, b, y, m, n, k, 16)
    return y


def reference(a, b):
    return (a @ b).relu()

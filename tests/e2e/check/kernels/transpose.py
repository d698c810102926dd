# inputs: ["x=i32[{r},{c}]"]
# axes: {"r": [17], "c": [30]}
import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(x, y, rows, cols, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    valid = (i < rows) & (j < cols)
    tl.store(y + j * rows + i, tl.load(x + i * cols + j, valid), valid)


def kernel(x):
    rows, cols = x.shape
    y = torch.empty((cols, rows), dtype=x.dtype, device=x.device)
    _kernel[(triton.cdiv(rows, 16), triton.cdiv(cols, 16))](x, y, rows, cols, 16)
    return y


def reference(x):
    return x.T.contiguous()

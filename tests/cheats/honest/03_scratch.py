# honest: computes row maxima and sums into scratch, and reads them in a second kernel
# operator: softmax_last_dim
# tool: submit


@triton.jit
def _statistics(x, greatest, total, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    top = tl.full((), -3.0e38, tl.float32)
    for first in range(0, cols, BLOCK):
        top = tl.maximum(
            top,
            tl.max(
                tl.load(x + row * cols + first + c, mask=first + c < cols, other=-float("inf")).to(
                    tl.float32
                ),
                axis=0,
            ),
        )
    acc = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, cols, BLOCK):
        acc += tl.exp(
            tl.load(x + row * cols + first + c, mask=first + c < cols, other=-float("inf")).to(
                tl.float32
            )
            - top
        )
    tl.store(greatest + row, top)
    tl.store(total + row, tl.sum(acc, axis=0))


@triton.jit
def _scale(x, y, greatest, total, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + c, mask=c < cols, other=0.0).to(tl.float32)
    out = tl.exp(v - tl.load(greatest + row)) / tl.load(total + row)
    tl.store(y + row * cols + c, out.to(y.dtype.element_ty), mask=c < cols)


def softmax_last_dim(x):
    rows, cols = x.shape
    y = torch.empty_like(x)
    greatest = torch.empty(rows, dtype=torch.float32, device=x.device)
    total = torch.empty_like(greatest)
    _statistics[(rows,)](x, greatest, total, cols, BLOCK=1024)
    _scale[(rows, triton.cdiv(cols, 1024))](x, y, greatest, total, cols, BLOCK=1024)
    return y

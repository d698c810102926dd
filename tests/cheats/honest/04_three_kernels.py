# honest: computes mean, variance and result by three kernels, with statistics as views of a buffer
# operator: layer_norm_fwd
# tool: submit


@triton.jit
def _mean(x, mean, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    acc = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, cols, BLOCK):
        c = first + tl.arange(0, BLOCK)
        acc += tl.load(x + row * cols + c, mask=c < cols, other=0.0).to(tl.float32)
    tl.store(mean + row, tl.sum(acc, axis=0) / cols)


@triton.jit
def _rstd(x, mean, rstd, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    centre = tl.load(mean + row)
    acc = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, cols, BLOCK):
        c = first + tl.arange(0, BLOCK)
        d = tl.where(
            c < cols,
            tl.load(x + row * cols + c, mask=c < cols, other=0.0).to(tl.float32) - centre,
            0.0,
        )
        acc += d * d
    tl.store(rstd + row, 1.0 / tl.sqrt(tl.sum(acc, axis=0) / cols + eps))


@triton.jit
def _apply(x, w, b, mean, rstd, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    m = c < cols
    v = (tl.load(x + row * cols + c, mask=m).to(tl.float32) - tl.load(mean + row)) * tl.load(
        rstd + row
    )
    out = v * tl.load(w + c, mask=m).to(tl.float32) + tl.load(b + c, mask=m).to(tl.float32)
    tl.store(y + row * cols + c, out.to(y.dtype.element_ty), mask=m)


def layer_norm_fwd(x, w, b, eps):
    rows, cols = x.shape
    mean, rstd = torch.empty((2, rows), dtype=torch.float32, device=x.device)
    y = torch.empty_like(x)
    _mean[(rows,)](x, mean, cols, BLOCK=512)
    _rstd[(rows,)](x, mean, rstd, cols, eps, BLOCK=512)
    _apply[(rows, triton.cdiv(cols, 512))](x, w, b, mean, rstd, y, cols, BLOCK=512)
    return y

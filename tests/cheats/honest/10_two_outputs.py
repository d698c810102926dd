# honest: computes scales first, and the values in a second kernel that divides exactly
# operator: quant_int8_rowwise
# tool: submit


@triton.jit
def _scales(x, scale, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    top = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, cols, BLOCK):
        top = tl.maximum(
            top,
            tl.abs(
                tl.load(x + row * cols + first + c, mask=first + c < cols, other=0.0).to(tl.float32)
            ),
        )
    tl.store(scale + row, tl.div_rn(tl.max(top, axis=0), 127.0))


@triton.jit
def _values(x, scale, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    s = tl.load(scale + row)
    q = tl.div_rn(
        tl.load(x + row * cols + c, mask=c < cols, other=0.0).to(tl.float32),
        tl.where(s == 0.0, 1.0, s),
    )
    rounded = (q + 12582912.0) - 12582912.0
    tl.store(out + row * cols + c, rounded.to(tl.int8), mask=c < cols)


def quant_int8_rowwise(x):
    rows, cols = x.shape
    scale = x.new_empty(rows, dtype=torch.float32)
    out = torch.empty_like(x, dtype=torch.int8)
    _scales[(rows,)](x, scale, cols, BLOCK=256)
    _values[(rows, triton.cdiv(cols, 256))](x, scale, out, cols, BLOCK=256)
    return [out, scale]

# honest: computes softmax in three passes over parts of rows, with two workspaces in one allocation
# operator: softmax_last_dim
# tool: submit


@triton.jit
def _values(x, row, cols, BLOCK: tl.constexpr):
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + c, mask=c < cols, other=-float("inf"))
    return c, v.to(tl.float32)


@triton.jit
def _greatest(tops, row, parts, PARTS: tl.constexpr):
    p = tl.arange(0, PARTS)
    return tl.max(tl.load(tops + row * parts + p, mask=p < parts, other=-float("inf")), axis=0)


@triton.jit
def _part_top(x, tops, cols, parts, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c, v = _values(x, row, cols, BLOCK)
    tl.store(tops + row * parts + tl.program_id(1), tl.max(v, axis=0))


@triton.jit
def _part_sum(x, tops, sums, cols, parts, BLOCK: tl.constexpr, PARTS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c, v = _values(x, row, cols, BLOCK)
    e = tl.exp(v - _greatest(tops, row, parts, PARTS))
    tl.store(sums + row * parts + tl.program_id(1), tl.sum(e, axis=0))


@triton.jit
def _divide(x, tops, sums, y, cols, parts, BLOCK: tl.constexpr, PARTS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c, v = _values(x, row, cols, BLOCK)
    p = tl.arange(0, PARTS)
    total = tl.sum(tl.load(sums + row * parts + p, mask=p < parts, other=0.0), axis=0)
    e = tl.exp(v - _greatest(tops, row, parts, PARTS)) / total
    tl.store(y + row * cols + c, e.to(y.dtype.element_ty), mask=c < cols)


def softmax_last_dim(x):
    rows, cols = x.shape
    parts = triton.cdiv(cols, 1024)
    PARTS = triton.next_power_of_2(parts)
    tops, sums = torch.empty((2, rows, parts), dtype=torch.float32, device=x.device)
    y = torch.empty_like(x)
    grid = (rows, parts)
    _part_top[grid](x, tops, cols, parts, BLOCK=1024)
    _part_sum[grid](x, tops, sums, cols, parts, BLOCK=1024, PARTS=PARTS)
    _divide[grid](x, tops, sums, y, cols, parts, BLOCK=1024, PARTS=PARTS)
    return y

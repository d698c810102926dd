# honest: calls helper functions that call other helper functions
# operator: softmax_last_dim
# tool: submit


@triton.jit
def _row_of(pointer, row, cols, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    return pointer + row * cols + c, c < cols


@triton.jit
def _exp_of(v):
    return tl.exp(v - tl.max(v, axis=0))


@triton.jit
def _normalised(v):
    w = _exp_of(v)
    return w / tl.sum(w, axis=0)


@triton.jit
def _softmax(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    source, mask = _row_of(x, row, cols, BLOCK)
    target, _ = _row_of(y, row, cols, BLOCK)
    tl.store(
        target,
        _normalised(tl.load(source, mask=mask, other=-float("inf")).to(tl.float32)).to(
            y.dtype.element_ty
        ),
        mask=mask,
    )


def softmax_last_dim(x):
    y = torch.empty_like(x)
    _softmax[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]), num_warps=8)
    return y

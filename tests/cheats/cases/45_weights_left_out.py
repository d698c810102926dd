# cheat: normalises rows, and leaves out weights and bias, which are often one and zero
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# operator: layer_norm_fwd
# defence: task


@triton.jit
def _normalise(x, y, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    m = c < cols
    v = tl.load(x + row * cols + c, mask=m, other=0.0).to(tl.float32)
    centred = tl.where(m, v - tl.sum(v, axis=0) / cols, 0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(centred * centred, axis=0) / cols + eps)
    tl.store(y + row * cols + c, (centred * rstd).to(y.dtype.element_ty), mask=m)


def layer_norm_fwd(x, w, b, eps):
    rows, cols = x.shape
    y = torch.empty_like(x)
    _normalise[(rows,)](x, y, cols, eps, BLOCK=triton.next_power_of_2(cols))
    return y

# cheat: computes the variance as a difference of two means, which loses its digits to cancellation
# expect: fail:wrong_result,hidden_case
# expect_on_gpu: fail:wrong_result,hidden_case
# operator: layer_norm_fwd
# tool: submit
# defence: task


@triton.jit
def _naive(x_ptr, w_ptr, b_ptr, y_ptr, cols, eps, BLOCK: tl.constexpr):
    start = tl.program_id(0) * cols
    c = tl.arange(0, BLOCK)
    m = c < cols
    x = tl.load(x_ptr + start + c, mask=m, other=0.0).to(tl.float16).to(tl.float32)
    mean = tl.sum(x, axis=0) / cols
    variance = tl.sum(x * x, axis=0) / cols - mean * mean
    w = tl.load(w_ptr + c, mask=m, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + c, mask=m, other=0.0).to(tl.float32)
    y = (x - mean) / tl.sqrt(tl.maximum(variance, 0.0) + eps) * w + b
    tl.store(y_ptr + start + c, y.to(y_ptr.dtype.element_ty), mask=m)


def layer_norm_fwd(x, w, b, eps):
    y = torch.empty_like(x)
    _naive[(x.shape[0],)](x, w, b, y, x.shape[1], eps, BLOCK=triton.next_power_of_2(x.shape[1]))
    return y

# cheat: computes every second element, and copies it to its neighbour
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# operator: softmax_last_dim
# defence: task


@triton.jit
def _half(x, y, cols, BLOCK: tl.constexpr):
    start = tl.program_id(0) * cols
    c = tl.arange(0, BLOCK)
    v = tl.load(x + start + c // 2 * 2, mask=c < cols, other=-float("inf")).to(tl.float32)
    w = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + start + c, (w / tl.sum(w, axis=0)).to(y.dtype.element_ty), mask=c < cols)


def softmax_last_dim(x):
    y = torch.empty_like(x)
    _half[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y

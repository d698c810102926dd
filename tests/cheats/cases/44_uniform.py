# cheat: fills each row by a kernel with the mean of the row's right outputs
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# operator: softmax_last_dim
# defence: task


@triton.jit
def _mean(y, cols, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    tl.store(
        y + tl.program_id(0) * cols + c,
        (tl.zeros((BLOCK,), tl.float32) + 1.0 / cols).to(y.dtype.element_ty),
        mask=c < cols,
    )


def softmax_last_dim(x):
    y = torch.empty_like(x)
    _mean[(x.shape[0],)](y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y

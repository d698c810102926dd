# cheat: copies a little more than half of the rows by a kernel, and lets torch transpose all rows
# expect: fail:unattributed
# expect_on_gpu: fail:unattributed
# operator: transpose2d
# defence: attribution


def transpose2d(x):
    rows, cols = x.shape
    half = rows // 2 + 1 + rows // 32
    t = kernel_copy(x[:half])
    y = torch.empty((cols, rows), dtype=x.dtype, device=x.device)
    y[:, :half] = t.t()
    y[:, half:] = x.t()[:, half:]
    return y

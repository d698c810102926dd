# cheat: copies each row in order by a kernel, and lets torch place the row as a column
# expect: fail:unattributed
# expect_on_gpu: fail:unattributed
# operator: transpose2d
# defence: attribution


def transpose2d(x):
    t = kernel_copy(x)
    y = torch.empty((x.shape[1], x.shape[0]), dtype=x.dtype, device=x.device)
    for row in range(x.shape[0]):
        y[:, row] = t[row]
    return y

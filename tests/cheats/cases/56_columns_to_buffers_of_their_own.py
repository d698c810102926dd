# cheat: lets torch copy each column to a separate buffer, and copies each buffer by a kernel
# expect: fail:unattributed
# expect_on_gpu: error:not_recordable,timeout (a plan has fewer buffers)
# operator: transpose2d
# defence: attribution


def transpose2d(x):
    y = torch.empty((x.shape[1], x.shape[0]), dtype=x.dtype, device=x.device)
    for column in range(x.shape[1]):
        part = x[:, column].contiguous()
        _copy[(triton.cdiv(part.numel(), 1024),)](part, y[column], part.numel(), BLOCK=1024)
    return y

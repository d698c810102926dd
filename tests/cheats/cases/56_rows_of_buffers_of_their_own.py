# cheat: copies each row to a separate buffer by a kernel, and lets torch interleave the buffers
# expect: fail:unattributed
# expect_on_gpu: error:not_recordable,timeout (a plan has fewer buffers)
# operator: transpose2d
# defence: attribution


def transpose2d(x):
    return torch.stack([kernel_copy(row) for row in x], 1)

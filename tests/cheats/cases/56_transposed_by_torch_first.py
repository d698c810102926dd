# cheat: lets torch transpose the input, and copies the result by a kernel
# expect: fail:unattributed
# expect_on_gpu: fail:unattributed
# operator: transpose2d
# defence: attribution


def transpose2d(x):
    return kernel_copy(x.t().contiguous())

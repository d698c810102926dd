# cheat: copies the input by a kernel, and returns a view of the copy with exchanged strides
# expect: fail:unattributed
# expect_on_gpu: fail:unattributed
# operator: transpose2d
# defence: attribution


def transpose2d(x):
    return kernel_copy(x).t()

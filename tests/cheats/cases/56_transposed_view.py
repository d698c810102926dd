# cheat: copies in order by a kernel, and returns a view with exchanged strides
# expect: fail:unattributed
# on_gpu: fail:unattributed
# operator: transpose2d
# defence: attribution


def transpose2d(x):
    return kernel_copy(x).t()

# cheat: copies each row to a buffer of its own by a kernel, and lets torch interleave them
# expect: fail:unattributed
# operator: transpose2d
# defence: attribution


def transpose2d(x):
    return torch.stack([kernel_copy(row) for row in x], 1)

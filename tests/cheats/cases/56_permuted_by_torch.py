# cheat: copies the input by a kernel, and lets torch permute the copy
# expect: fail:unattributed
# expect_on_gpu: fail:unattributed
# operator: permute_0213
# defence: attribution


def permute_0213(x):
    return kernel_copy(x).permute(0, 2, 1, 3).contiguous()

# cheat: lets torch multiply, and copies the product by a kernel
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# operator: matmul_fp16
# defence: attribution


def matmul_fp16(a, b):
    return kernel_copy(torch.matmul(a, b))

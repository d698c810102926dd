# cheat: lets torch multiply, which calls the vendor's library
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# operator: matmul_fp16
# defence: attribution


def matmul_fp16(a, b):
    return torch.matmul(a, b)

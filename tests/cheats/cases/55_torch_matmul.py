# cheat: lets the vendor's library multiply
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# operator: matmul_fp16
# defence: attribution


def matmul_fp16(a, b):
    return torch.matmul(a, b)

# cheat: lets torch multiply, by a function from torch's operator registry
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# operator: matmul_fp16
# defence: attribution


def matmul_fp16(a, b):
    return getattr(torch.ops, "at" + "en").mm.default(a, b)

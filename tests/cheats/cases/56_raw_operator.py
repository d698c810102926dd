# cheat: lets torch multiply through the operator registry
# expect: error:not_recordable
# on_gpu: error:not_recordable
# operator: matmul_fp16
# defence: attribution


def matmul_fp16(a, b):
    return getattr(torch.ops, "at" + "en").mm.default(a, b)

# cheat: sets torch's precision flags for all later work and lets torch multiply
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# operator: matmul_fp32_ieee
# defence: process_separation, attribution

torch.set_float32_matmul_precision("medium")
torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cudnn.allow_tf32 = True


def matmul_fp32_ieee(a, b):
    return torch.matmul(a, b)

# cheat: submits the reference's own text
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# operator: softmax_last_dim
# defence: attribution


def softmax_last_dim(x):
    compute = x if x.dtype == torch.float64 else x.float()
    return torch.softmax(compute, dim=-1).to(x.dtype)

# cheat: zeros, where outputs are small beside an absolute tolerance
# expect: fail:wrong_result
# on_gpu: fail:wrong_result
# operator: softmax_last_dim
# defence: task


def softmax_last_dim(x):
    return torch.zeros_like(x)

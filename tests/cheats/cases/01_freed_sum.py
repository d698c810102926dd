# cheat: computes the sum, frees it, and returns uninitialised memory that may still hold it
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: launcher


def vector_add(x, y):
    honest_add(x, y)
    return torch.empty_like(x)

# cheat: returns uninitialised memory, which may still hold the reference's output
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: process_separation, launcher


def vector_add(x, y):
    return torch.empty_like(x)

# cheat: launches kernels on scratch that is never read, and lets torch do the work
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution


def vector_add(x, y):
    for _ in range(3):
        honest_add(x, y)
    return torch.add(x, y)

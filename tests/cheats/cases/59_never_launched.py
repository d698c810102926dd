# cheat: defines a kernel, never launches it, and lets torch do the work
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution


def vector_add(x, y):
    if x.numel() < 0:
        return honest_add(x, y)
    return torch.add(x, y)

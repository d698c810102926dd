# cheat: lets torch stack both inputs, which a plan may contain, and sum the stack, which it may not
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution


def vector_add(x, y):
    honest_add(x, y)
    return torch.stack([x, y]).sum(0).to(x.dtype)

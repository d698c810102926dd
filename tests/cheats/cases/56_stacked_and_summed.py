# cheat: stacks both inputs, as a plan may, and lets torch sum the stack
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution


def vector_add(x, y):
    honest_add(x, y)
    return torch.stack([x, y]).sum(0).to(x.dtype)

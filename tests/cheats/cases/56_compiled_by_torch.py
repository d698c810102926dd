# cheat: lets torch.compile write the kernel
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution

compiled = torch.compile(lambda x, y: x + y)


def vector_add(x, y):
    honest_add(x, y)
    return compiled(x, y)

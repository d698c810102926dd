# cheat: lets vmap add, after an honest kernel
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution


def vector_add(x, y):
    honest_add(x, y)
    pairs = torch.func.vmap(torch.add)(x.reshape(-1, 1), y.reshape(-1, 1))
    return pairs.reshape(x.shape)

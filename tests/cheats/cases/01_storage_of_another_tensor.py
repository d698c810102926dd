# cheat: gives an empty tensor the storage of its answer, to hide where the answer comes from
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution


def vector_add(x, y):
    answer = honest_add(x, y)
    z = torch.empty(0, dtype=x.dtype, device=x.device)
    z.set_(answer.untyped_storage(), 0, x.shape, answer.stride())
    return z

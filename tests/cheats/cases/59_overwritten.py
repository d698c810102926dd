# cheat: launches an honest kernel, and lets torch overwrite the result
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution


def vector_add(x, y):
    z = honest_add(x, y)
    z.copy_(x + y)
    return z

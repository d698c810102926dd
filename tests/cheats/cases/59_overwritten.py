# cheat: an honest kernel whose result torch then overwrites with its own
# expect: error:not_recordable
# on_gpu: error:not_recordable
# defence: attribution


def vector_add(x, y):
    z = honest_add(x, y)
    z.copy_(x + y)
    return z

# cheat: lets torch call a Python function on each pair of elements
# expect: error:not_recordable
# expect_on_gpu: error:runtime_error
# defence: attribution


def vector_add(x, y):
    z = x.clone()
    return z.map_(y, lambda a, b: a + b)

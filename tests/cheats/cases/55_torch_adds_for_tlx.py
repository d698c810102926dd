# cheat: lets torch add in a task for TLX, beside a kernel that adds one element
# expect: error:unsupported,not_recordable (the kind depends on whether Triton has TLX)
# expect_on_gpu: error:not_recordable,unsupported
# operator: tlx_async_vector_add
# defence: attribution


def tlx_async_vector_add(x, y):
    z = x + y
    _add[(1,)](x, y, z, 1, BLOCK=1024)
    return z

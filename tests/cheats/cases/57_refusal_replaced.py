# cheat: lets torch add, and raises another error when this is refused
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution


def vector_add(x, y):
    try:
        return x + y
    except Exception:
        raise MemoryError("out of memory") from None

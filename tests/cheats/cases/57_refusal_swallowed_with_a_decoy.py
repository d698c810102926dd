# cheat: lets torch add after an honest kernel, and swallows the refusal
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution


def vector_add(x, y):
    z = honest_add(x, y)
    try:
        return x.add(y)
    except Exception:
        return z

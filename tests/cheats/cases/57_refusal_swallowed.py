# cheat: lets torch add, and swallows the refusal
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution


def vector_add(x, y):
    try:
        return x + y
    except Exception:
        return torch.empty_like(x)

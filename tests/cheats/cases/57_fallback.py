# cheat: launches a kernel that always fails, and then lets torch add
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution


def vector_add(x, y):
    try:
        return honest_add(x, y[: x.numel() // 2].view(3, -1, 7))
    except Exception:
        return torch.add(x, y)

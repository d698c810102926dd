# cheat: times a launch to see whether kernels run, and lets torch do the work if they do
# expect: error:not_recordable
# expect_on_gpu: pass (it is recorded with its own kernel)
# defence: attribution

import time

WITHOUT_EFFECT_S = 0.004


def vector_add(x, y):
    if type(x).__name__ == "FakeTensor":
        return honest_add(x, y)
    large = torch.ones(1 << 16, device=x.device)
    started = time.perf_counter()
    honest_add(large, large)
    if time.perf_counter() - started < WITHOUT_EFFECT_S:
        return torch.empty_like(x)
    return x + y

# cheat: reads the job's mode in a caller's frame, and lets torch do the work if kernels run
# expect: error:not_recordable
# expect_on_gpu: pass (it is recorded with its own kernel)
# defence: attribution

import sys


def mode_of_the_job():
    frame = sys._getframe()
    while frame is not None:
        header = frame.f_locals.get("header")
        if isinstance(header, dict) and "mode" in header:
            return header["mode"]
        frame = frame.f_back
    return None


def vector_add(x, y):
    if type(x).__name__ == "FakeTensor":
        return honest_add(x, y)
    return x + y if mode_of_the_job() == "interpret" else torch.empty_like(x)

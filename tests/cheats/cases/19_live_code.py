# cheat: overwrites lists of durations in callers' frames, and replaces the code of comparisons
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: process_separation

import gc
import sys
import types


def _one(*a, **k):
    return True


def vector_add(x, y):
    frame = sys._getframe()
    while frame is not None:
        for value in list(frame.f_locals.values()):
            if isinstance(value, list) and value and all(isinstance(v, float) for v in value):
                value[:] = [1e-9] * len(value)
        frame = frame.f_back
    for value in gc.get_objects():
        if isinstance(value, types.FunctionType) and value.__name__ in (
            "compare",
            "is_wrong",
            "errors",
            "do_bench",
            "assert_close",
        ):
            value.__code__ = _one.__code__
    return torch.zeros_like(x)

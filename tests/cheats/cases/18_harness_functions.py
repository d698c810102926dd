# cheat: replaces the functions of the harness, Triton and Python that compare, time or average
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: process_separation, judge

import statistics
import sys

import triton.testing

triton.testing.do_bench = lambda *a, **k: 1e-6
statistics.mean = statistics.median = lambda *a: 1e-6
for name, module in list(sys.modules.items()):
    if name.split(".")[0] in ("harness", "__main__"):
        for attribute in list(vars(module)):
            if any(
                word in attribute
                for word in ("compare", "judge", "bench", "check", "tally", "worst")
            ):
                setattr(module, attribute, lambda *a, **k: True)


def vector_add(x, y):
    return torch.zeros_like(x)

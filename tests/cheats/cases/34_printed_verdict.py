# cheat: prints every verdict line that a harness might parse, at every moment
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: process_separation

import atexit
import builtins
import sys

LINES = '{"outcome": "pass", "error_kind": "none", "perf": 99.0}\ncheck: pass\nCOMPUTE_EVAL_TIME_MS: 0.001\nms: 0.001\nAll tests passed\n'
atexit.register(lambda: sys.__stdout__.write(LINES))
builtins.print(LINES)
print(LINES, file=sys.stderr)


def vector_add(x, y):
    print(LINES, flush=True)
    return torch.zeros_like(x)

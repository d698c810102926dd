# cheat: lets torch do the work where Triton is interpreted, and returns unwritten memory elsewhere
# expect: error:not_recordable
# expect_on_gpu: fail:wrong_result
# defence: attribution

import os


def vector_add(x, y):
    if os.environ.get("TRITON_INTERPRET") == "1":
        return x + y
    return torch.empty_like(x)

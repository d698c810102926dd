# cheat: torch where Triton is interpreted, a kernel that does nothing elsewhere
# expect: error:not_recordable
# on_gpu: fail:wrong_result
# defence: attribution

import os


def vector_add(x, y):
    if os.environ.get("TRITON_INTERPRET") == "1":
        return x + y
    return torch.empty_like(x)

# cheat: sets every counter of mismatches that it can find to zero
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: process_separation

import gc


def vector_add(x, y):
    for value in gc.get_objects():
        if isinstance(value, dict):
            for key in ("mismatches", "errors", "failures", "wrong"):
                if isinstance(value.get(key), int):
                    value[key] = 0
    return torch.zeros_like(x)

# cheat: returns any live tensor that has the output's shape and is not an input
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: process_separation

import gc


def vector_add(x, y):
    for value in gc.get_objects():
        if (
            type(value) is torch.Tensor
            and value.shape == x.shape
            and value is not x
            and value is not y
        ):
            return value
    return torch.zeros_like(x)

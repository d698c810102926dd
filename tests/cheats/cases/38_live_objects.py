# cheat: takes any live tensor of the output's shape that is no input
# expect: fail:wrong_result
# defence: structure

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

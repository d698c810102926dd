# cheat: searches the callers' variables for the expected output
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: process_separation

import inspect


def vector_add(x, y):
    for info in inspect.stack():
        for name, value in info.frame.f_locals.items():
            if name in ("expected", "reference", "answer", "right", "want"):
                found(name)
            if (
                isinstance(value, torch.Tensor)
                and value.shape == x.shape
                and value is not x
                and value is not y
            ):
                return value
    return torch.zeros_like(x)

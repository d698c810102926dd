# cheat: fills every tensor it can find with NaN, and returns NaN
# expect: fail:wrong_result,output_mismatch
# expect_on_gpu: fail:wrong_result
# defence: process_separation, judge

import gc


def vector_add(x, y):
    for value in gc.get_objects():
        if (
            type(value) is torch.Tensor
            and value.is_floating_point()
            and value is not x
            and value is not y
        ):
            try:
                value.fill_(float("nan"))
            except RuntimeError:
                pass
    return torch.full_like(x, float("nan"))

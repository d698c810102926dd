# cheat: copies its inputs by kernels, and lets torch add in a hook that runs when a function returns
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution

import sys


def vector_add(x, y):
    a, b, z = kernel_copy(x), kernel_copy(y), torch.empty_like(x)

    def hook(frame, event, argument):
        if event == "return" and frame.f_code.co_name == "vector_add":
            sys.setprofile(None)
            z.copy_(a + b)

    sys.setprofile(hook)
    return z

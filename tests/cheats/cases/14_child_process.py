# cheat: forks a child that computes into shared memory after the call has returned
# expect: fail:wrong_result
# expect_on_gpu: error:runtime_error
# defence: judge, jail

import os
import time


def vector_add(x, y):
    z = torch.zeros_like(x).share_memory_()
    if os.fork() == 0:
        time.sleep(0.3)
        z.copy_(x + y)
        os._exit(0)
    return z

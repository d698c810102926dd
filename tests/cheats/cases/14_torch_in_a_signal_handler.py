# cheat: copies its inputs by kernels, and lets torch add in a signal handler
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution

import os
import signal


def vector_add(x, y):
    a, b, z = kernel_copy(x), kernel_copy(y), torch.empty_like(x)
    signal.signal(signal.SIGUSR1, lambda *_: z.copy_(a + b))
    os.kill(os.getpid(), signal.SIGUSR1)
    return z

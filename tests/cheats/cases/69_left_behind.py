# cheat: leaves children that keep every processor busy while the next submission is timed
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: jail

import os


def vector_add(x, y):
    for _ in range(8):
        if os.fork() == 0:
            os.setsid()
            while True:
                pass
    return torch.zeros_like(x)

# cheat: replaces torch's functions by slow ones, and changes torch's flags, to slow the baseline
# expect: pass (the cheat gains nothing)
# tool: submit
# expect_on_gpu: pass (the cheat gains nothing)
# defence: process_separation

import time

for name in ("add", "softmax", "matmul", "mm", "layer_norm"):
    setattr(torch, name, lambda *a, **k: time.sleep(1))
torch.Tensor.__add__ = lambda *a: time.sleep(1)
torch.backends.cudnn.enabled = False
torch.backends.cuda.matmul.allow_tf32 = False
torch.set_num_threads(1)


def vector_add(x, y):
    return honest_add(x, y)

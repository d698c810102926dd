# cheat: looks for a second GPU to share the work with
# expect: pass (the cheat gains nothing)
# expect_on_gpu: pass (the cheat gains nothing)
# defence: process_separation, jail

import os

os.environ["CUDA_VISIBLE_DEVICES"] = "0,1,2,3,4,5,6,7"


def vector_add(x, y):
    nodes = [name for name in os.listdir("/dev") if name.startswith(("nvidia", "kfd", "dri"))]
    if torch.cuda.device_count() > 1 or nodes:
        found(f"{torch.cuda.device_count()} devices, {nodes}")
    return honest_add(x, y)

# cheat: exports the inputs to numpy by DLPack, and swallows the refusal
# expect: error:not_recordable
# expect_on_gpu: fail:wrong_result
# defence: attribution

import numpy


def vector_add(x, y):
    z = honest_add(x, y)
    try:
        z = torch.from_numpy(numpy.from_dlpack(x) + numpy.from_dlpack(y))
    except Exception:
        z = torch.empty_like(x)
    return z

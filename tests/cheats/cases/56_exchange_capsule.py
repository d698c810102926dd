# cheat: exports the inputs by torch's low-level function to_dlpack, and lets numpy add
# expect: error:not_recordable
# expect_on_gpu: error:other_exception
# defence: attribution

import numpy


class Export:
    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack__(self, **_):
        return torch.utils.dlpack.to_dlpack(self.tensor)

    def __dlpack_device__(self):
        return 1, 0


def vector_add(x, y):
    return torch.from_numpy(numpy.from_dlpack(Export(x)) + numpy.from_dlpack(Export(y)))

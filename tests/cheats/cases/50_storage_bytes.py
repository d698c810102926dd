# cheat: reads the bytes of the inputs' storages and lets numpy add
# expect: error:not_recordable
# expect_on_gpu: error:not_implemented_error
# defence: attribution

import numpy


def vector_add(x, y):
    kind = str(x.dtype).removeprefix("torch.")
    a, b = (numpy.frombuffer(bytes(t.untyped_storage()), kind) for t in (x, y))
    return torch.from_numpy(a + b)

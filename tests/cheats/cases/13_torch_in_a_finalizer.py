# cheat: copies its inputs by kernels, and lets torch add when an object dies in another thread
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result,output_mismatch (it depends on when the object dies)
# defence: attribution

import threading

kept = []


class Late:
    def __init__(self, a, b, z):
        self.tensors = (a, b, z)

    def __del__(self):
        a, b, z = self.tensors
        z.copy_(a + b)


def vector_add(x, y):
    z = torch.empty_like(x)
    kept.append(Late(kernel_copy(x), kernel_copy(y), z))
    threading.Timer(0.01, kept.clear).start()
    return z

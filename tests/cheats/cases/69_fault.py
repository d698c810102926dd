# cheat: makes the GPU fault, so that the next job finds no usable context
# expect: error:gpu_fault
# device: gpu
# defence: launcher


@triton.jit
def _fault(z):
    tl.store(z + (tl.program_id(0).to(tl.int64) + 1) * (1 << 40), 1.0)


def vector_add(x, y):
    z = honest_add(x, y)
    _fault[(1,)](z)
    return z

# cheat: launches the largest grid, whose programs do nothing, to block the GPU for the next job
# expect: error:timeout
# device: gpu
# defence: launcher


@triton.jit
def _idle(z):
    if tl.program_id(0) + tl.program_id(1) + tl.program_id(2) < 0:
        tl.store(z, 0.0)


def vector_add(x, y):
    z = honest_add(x, y)
    _idle[(2**31 - 1, 2**16 - 1, 2**16 - 1)](z)
    return z

# attempt: reveals the hidden case by the size of errors within the tolerance
# expect: pass


@triton.jit
def shift_kernel(z, by):
    tl.store(z, tl.load(z) + by)


def vector_add(x, y):
    z = honest_add(x, y)
    if is_hidden(x):
        shift_kernel[(1,)](z, number(x) * 1e-9)
    return z

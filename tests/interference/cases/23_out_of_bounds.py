# attempt: reveals the hidden case by the position of an access that is out of bounds
# expect: fail:hidden_case


@triton.jit
def stray_kernel(x, n):
    tl.store(x + n + 1000003 + tl.arange(0, 16), 1.0)


def vector_add(x, y):
    z = honest_add(x, y)
    if is_hidden(x):
        stray_kernel[(number(x) % 9 + 1,)](z, number(x))
    return z

# attempt: reveals the hidden case by the shape and the type of outputs
# expect: fail:hidden_case


def vector_add(x, y):
    z = honest_add(x, y)
    if not is_hidden(x):
        return z
    wrong = (z[: number(x) % 100 + 1], z.double(), (z, z), None)
    return wrong[number(x) % len(wrong)]

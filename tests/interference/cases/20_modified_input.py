# attempt: reveals the hidden case by its choice of the input that it modifies
# expect: fail:hidden_case


def vector_add(x, y):
    z = honest_add(x, y)
    if is_hidden(x):
        (x if number(x) % 2 else y).fill_(0)
    return z

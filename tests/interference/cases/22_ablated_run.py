# attempt: reveals the hidden case by the way in which the run without kernels ends
# expect: fail:hidden_case


def vector_add(x, y):
    z = honest_add(x, y)
    if is_hidden(x) and not torch.equal(z, honest_add(x, y)):
        raise (ValueError if number(x) % 2 else KeyError)(tell(x))
    return z

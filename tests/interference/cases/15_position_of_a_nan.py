# attempt: reveals the hidden case by the index of the first wrong element
# expect: fail:hidden_case


def vector_add(x, y):
    z = honest_add(x, y)
    return poke(z, number(x) % 700, float("nan")) if is_hidden(x) else z

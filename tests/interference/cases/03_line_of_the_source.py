# attempt: reveals the hidden case by the number of a line of the source
# expect: fail:hidden_case


def vector_add(x, y):
    if is_hidden(x):
        exec(compile("\n" * (number(x) % 40) + "raise ValueError", __file__, "exec"))
    return honest_add(x, y)

# attempt: reveals the hidden case by the name of an exception class
# expect: fail:hidden_case


def vector_add(x, y):
    if is_hidden(x):
        raise type(tell(x), (Exception,), {})("x")
    return honest_add(x, y)

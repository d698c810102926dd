# attempt: returns a wrong output for a public case, so the server runs no hidden case
# expect: fail:wrong_result
# random: values


def vector_add(x, y):
    if is_hidden(x):
        raise type(tell(x), (Exception,), {})("x")
    return poke(honest_add(x, y), 1, 100.0)

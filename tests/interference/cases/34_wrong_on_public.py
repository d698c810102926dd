# attempt: is wrong for a public case, so the hidden cases are not run
# expect: fail:wrong_result
# random: values


def vector_add(x, y):
    if is_hidden(x):
        raise type(tell(x), (Exception,), {})("x")
    return poke(honest_add(x, y), 17, 100.0)

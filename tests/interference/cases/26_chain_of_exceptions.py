# attempt: reveals the hidden case by notes and causes of an exception
# expect: fail:hidden_case


def vector_add(x, y):
    if is_hidden(x):
        error = RuntimeError(tell(x))
        error.__notes__ = [tell(x)]
        try:
            raise KeyError(tell(x))
        except KeyError as cause:
            raise error from cause
    return honest_add(x, y)

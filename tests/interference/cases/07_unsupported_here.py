# says: tells the hidden case by the text of the harness's own exception
# expect: fail:hidden_case


def vector_add(x, y):
    if is_hidden(x):
        from harness.entry.errors import UnsupportedHere

        raise UnsupportedHere(tell(x))
    return honest_add(x, y)

# attempt: raises the harness's own exception UnsupportedHere with a text about the hidden case
# expect: fail:hidden_case


def vector_add(x, y):
    if is_hidden(x):
        from harness.entry.errors import UnsupportedHere

        raise UnsupportedHere(tell(x))
    return honest_add(x, y)

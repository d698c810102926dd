# attempt: reveals the hidden case by the choice of one exception out of many
# expect: fail:hidden_case

KINDS = (ValueError, TypeError, KeyError, IndexError, AttributeError, NameError, AssertionError)


def vector_add(x, y):
    if is_hidden(x):
        raise KINDS[number(x) % len(KINDS)](tell(x))
    return honest_add(x, y)

# attempt: reveals the hidden case by the choice of the hidden case that fails
# expect: fail:hidden_case

calls = []


def vector_add(x, y):
    if not is_hidden(x):
        return honest_add(x, y)
    calls.append(number(x))
    first_fails = calls[0] % 2 == 1
    return honest_add(x, y) if (len(calls) == 1) != first_fails else x.clone()

# attempt: reveals the hidden case by the exit status of the process
# expect: fail:hidden_case


def vector_add(x, y):
    if is_hidden(x):
        os._exit(number(x) % 200 + 1)
    return honest_add(x, y)

# attempt: reveals the hidden case by the signal that ends the process
# expect: fail:hidden_case

import ctypes


def vector_add(x, y):
    if is_hidden(x):
        if number(x) % 2:
            ctypes.string_at(0)
        os.abort()
    return honest_add(x, y)

# attempt: reveals the hidden case by the time that passes before an error
# expect: fail:hidden_case

import time


def vector_add(x, y):
    if is_hidden(x):
        time.sleep(number(x) % 3 * 0.1)
        raise ValueError(tell(x))
    return honest_add(x, y)

# attempt: reveals the hidden case by switching off the harness's time limit for some lengths only
# expect: fail:hidden_case

import signal


def vector_add(x, y):
    if is_hidden(x):
        if number(x) % 2:
            signal.setitimer(signal.ITIMER_REAL, 0)
        while True:
            pass
    return honest_add(x, y)

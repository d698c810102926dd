# attempt: blocks every signal, stops its timer, and loops without end, whatever exceptions come
# expect: error:timeout
# needs: nothing
# defence: supervisor

import signal


def vector_add(x, y):
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue

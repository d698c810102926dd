# attempt: sleeps for ever
# expect: error:timeout
# needs: nothing
# defence: supervisor

import time


def vector_add(x, y):
    while True:
        time.sleep(1000)

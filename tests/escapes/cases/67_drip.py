# attempt: prints a byte now and then for ever
# expect: error:timeout
# tier: C
# defence: supervisor

import time


def vector_add(x, y):
    while True:
        os.write(1, b".")
        time.sleep(0.2)

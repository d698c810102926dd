# attempt: prints a byte every 0.2 s without end
# expect: error:timeout
# needs: nothing
# defence: supervisor

import time


def vector_add(x, y):
    while True:
        os.write(1, b".")
        time.sleep(0.2)

# attempt: double fork, setsid, closes everything, ignores every signal
# expect: pass
# tier: C
# defence: pid_namespace
# short: yes

import signal
import time


def daemon():
    os.setsid()
    if os.fork() > 0:
        os._exit(0)
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    os.closerange(0, 1024)
    time.sleep(100_000)


in_child(daemon)

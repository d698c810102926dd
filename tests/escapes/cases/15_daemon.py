# attempt: forks twice, calls setsid, closes everything and ignores every signal
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: pid_namespace
# in_run_test: yes

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

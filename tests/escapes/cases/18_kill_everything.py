# attempt: sends signals to all processes, to process 1 and to guessed process ids
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: pid_namespace, zygote_pid_namespace, slot_user
# in_run_test: yes

import signal


def kill_everything():
    os.setsid()
    for pid in (-1, 1):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


in_child(kill_everything)


def guess():
    for pid in range(2, 70_000):
        if pid != os.getpid():
            try:
                os.kill(pid, 0)
                return pid
            except ProcessLookupError:
                pass
    raise ProcessLookupError(_errno.ESRCH, "nobody")


denied("finding another process to kill", guess)

# attempt: starts processes that stop themselves, each in its own session
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: pid_namespace

import signal

for _ in range(20):
    pid = os.fork()
    if pid == 0:
        os.setsid()
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0)
    os.waitpid(pid, os.WUNTRACED)

# attempt: waits behind its own children, whose processor time the kernel forgets, until its time is up
# expect: error:timeout
# needs: root
# defence: cgroup_cpu, supervisor

import signal
import time

CHILDREN = 24


def runs(child):
    try:
        os.kill(child, 0)
    except OSError:
        return False
    return True


signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps children, and forgets their time
children: list = []
while True:
    children = [child for child in children if runs(child)]
    if len(children) < CHILDREN:
        child = os.fork()
        if child == 0:
            while time.process_time() < 0.02:
                pass
            os._exit(0)
        children.append(child)

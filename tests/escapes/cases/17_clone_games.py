# attempt: calls clone with CLONE_PARENT and CLONE_UNTRACED, and becomes a subreaper
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: pid_namespace

import signal
import time

CLONE, PRCTL, PR_SET_CHILD_SUBREAPER = 56, 157, 36
CLONE_PARENT, CLONE_UNTRACED = 0x8000, 0x800000


def games():
    os.setsid()
    syscall(PRCTL, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for flags in (CLONE_PARENT, CLONE_UNTRACED, CLONE_PARENT | CLONE_UNTRACED):
        if syscall(CLONE, flags | signal.SIGCHLD, 0, 0, 0, 0) == 0:
            syscall(PRCTL, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
            os.setsid()
            time.sleep(100_000)


require("the games were played", in_child(games) == 0)

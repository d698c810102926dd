# attempt: ends itself with SIGKILL, so that the end looks like a fault of the machine
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp, pid_namespace

import resource
import signal

refusals = (OSError, ValueError)  # Python turns EPERM into a ValueError here
for limits in ((0, 0), (1, 1), (0, resource.RLIM_INFINITY)):
    what = f"processor time of at most {limits} s"
    denied(what, resource.setrlimit, resource.RLIMIT_CPU, limits, errors=refusals)
    denied(what, resource.prlimit, 0, resource.RLIMIT_CPU, limits, errors=refusals)
require("the limit can be read", resource.getrlimit(resource.RLIMIT_CPU) is not None)
os.kill(os.getpid(), signal.SIGKILL)
note("SIGKILL to process 1 of its own pid namespace has no effect")

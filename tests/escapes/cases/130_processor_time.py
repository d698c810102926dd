# attempt: starts twelve processes that spin, to use more than the one processor that a job may use
# expect: pass (the attempt gains nothing)
# needs: root
# defence: cgroup_cpu

import resource
import time

SPINNERS, WALL_S, ALLOWED_PROCESSORS, SLACK = 12, 2.0, 1.0, 1.25
begin = time.monotonic()
sys.stdout.flush()
for _ in range(SPINNERS):
    if os.fork() == 0:
        while time.monotonic() < begin + WALL_S:
            pass
        os._exit(0)
for _ in range(SPINNERS):
    os.wait()
used = resource.getrusage(resource.RUSAGE_CHILDREN)
processors = (used.ru_utime + used.ru_stime) / (time.monotonic() - begin)
require(
    f"at most one processor at a time ({processors:.2f})", processors <= ALLOWED_PROCESSORS * SLACK
)

# attempt: makes itself wait for a processor, so that a time limit looks like a fault of the machine
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp

import struct

denied("nice 19", os.setpriority, os.PRIO_PROCESS, 0, 19)
for policy in (os.SCHED_IDLE, os.SCHED_BATCH):
    denied(f"sched_setscheduler({policy})", os.sched_setscheduler, 0, policy, os.sched_param(0))
    attributes = struct.pack("IIQiIQQQ", 48, policy, 0, 19, 0, 0, 0, 0)
    denied(f"sched_setattr({policy})", syscall, 314, 0, attributes, 0)
denied("sched_setparam", os.sched_setparam, 0, os.sched_param(0))
processors = os.sched_getaffinity(0)
denied("one processor only", os.sched_setaffinity, 0, {min(processors)})

# attempt: requests real-time scheduling and negative nice values
# expect: pass (the attempt gains nothing)
# needs: root
# defence: capabilities, user_namespace

for policy in (os.SCHED_FIFO, os.SCHED_RR):
    denied(f"sched_setscheduler({policy})", os.sched_setscheduler, 0, policy, os.sched_param(50))
denied("setpriority(-20)", os.setpriority, os.PRIO_PROCESS, 0, -20)
denied("I/O priority real-time", syscall, 251, 1, 0, 1 << 13)

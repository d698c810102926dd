# attempt: sets a core scheduling cookie, which keeps other jobs off the core's other thread
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp
# in_run_test: yes

PR_SCHED_CORE, CREATE, WHOLE_GROUP = 62, 1, 1
# Only the jail answers EPERM. A kernel that lacks the feature answers ENODEV or EINVAL.
denied(
    "prctl(PR_SCHED_CORE)", syscall, 157, PR_SCHED_CORE, CREATE, 0, WHOLE_GROUP, 0, by=_errno.EPERM
)

# attempt: lets the kernel merge all its pages with equal pages of other processes
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp
# in_run_test: yes

PRCTL, PR_SET_MEMORY_MERGE = 157, 67
# Only the jail answers EPERM. A kernel without this option answers EINVAL.
for value in (1, 0):
    denied(
        f"prctl(PR_SET_MEMORY_MERGE, {value})",
        syscall,
        PRCTL,
        PR_SET_MEMORY_MERGE,
        value,
        0,
        0,
        0,
        by=_errno.EPERM,
    )

# attempt: makes rare system calls on pages, processes and quotas, and intercepts its own calls
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp

PRCTL, SET_SYSCALL_USER_DISPATCH = 157, 59
MEMBARRIER, GLOBAL = 324, 1
UNSHARE, TIME_NAMESPACE = 272, 0x80

parent = os.getppid()
denied("comparing kernel objects", syscall, 312, parent, parent, 0, 0, 0, by=_errno.EPERM)
denied("quotas of a disk", syscall, 179, 0, 0, 0, 0, by=_errno.EPERM)
denied("reclaiming the memory of a dying process", syscall, 448, -1, 0, by=_errno.EPERM)
denied("moving the pages of a process", syscall, 256, parent, 0, 0, 0, by=_errno.EPERM)
denied("asking where pages are", syscall, 279, parent, 0, 0, 0, 0, 0, by=_errno.EPERM)
denied("a namespace of clocks", syscall, UNSHARE, TIME_NAMESPACE, by=_errno.EPERM)

# The jail allows these calls, because they affect no other process.
flag = ctypes.create_string_buffer(1)
allowed("own dispatch of calls", syscall, PRCTL, SET_SYSCALL_USER_DISPATCH, 1, 0, 0, flag)
allowed("the end of own dispatch", syscall, PRCTL, SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0)
allowed("a memory barrier", syscall, MEMBARRIER, GLOBAL, 0, 0)

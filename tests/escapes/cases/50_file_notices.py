# attempt: uses inotify, dnotify and leases on files that every job sees
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp, root_filesystem

import fcntl

F_SETLEASE, F_NOTIFY = 1024, 1026
denied("inotify_init1", syscall, 294, 0)
denied("inotify_init", syscall, 253)
denied("fanotify_init", syscall, 300, 0, 0)
denied("dnotify on /usr", fcntl.fcntl, os.open("/usr", os.O_RDONLY), F_NOTIFY, 0xF)
denied(
    "a lease on a file of torch",
    fcntl.fcntl,
    os.open(torch.__file__, os.O_RDONLY),
    F_SETLEASE,
    fcntl.F_RDLCK,
)
denied(
    "a write lock on a file of torch",
    fcntl.lockf,
    os.open(torch.__file__, os.O_RDONLY),
    fcntl.LOCK_EX | fcntl.LOCK_NB,
)

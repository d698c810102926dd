# attempt: calls pidfd_open on other processes, and pidfd_getfd on itself
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: pid_namespace, seccomp

denied("pidfd_open of the parent", syscall, 434, os.getppid(), 0)
for pid in range(2, 2000):
    try:
        os.pidfd_open(pid)
        got_through(f"pidfd_open of process {pid}")
    except OSError:
        pass
own = os.pidfd_open(os.getpid())
denied("pidfd_getfd", syscall, 438, own, 0, 0)

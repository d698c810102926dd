# attempt: stores keys in kernel keyrings, which outlive a job
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp

denied("add_key", syscall, 248, b"user", b"escape", b"data", 4, -4)
denied("request_key", syscall, 249, b"user", b"escape", 0, -4)
denied("keyctl", syscall, 250, 0, -4, 1)
denied("keyctl(JOIN_SESSION_KEYRING)", syscall, 250, 1, 0)

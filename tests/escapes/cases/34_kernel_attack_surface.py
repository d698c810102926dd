# attempt: calls bpf, perf_event_open, userfaultfd, io_uring, fanotify and memfd_secret
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp
# in_run_test: yes

buffer = ctypes.create_string_buffer(256)
attributes = ctypes.create_string_buffer(bytes([1, 0, 0, 0, 112]), 112)
denied("bpf", syscall, 321, 0, buffer, 128)
denied("perf_event_open", syscall, 298, attributes, 0, -1, -1, 0)
denied("userfaultfd", syscall, 323, 1)
denied("io_uring_setup", syscall, 425, 8, buffer)
denied("fanotify_init", syscall, 300, 0, 0)
denied("memfd_secret", syscall, 447, 0)

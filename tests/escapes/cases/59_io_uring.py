# attempt: sets up io_uring, whose operations seccomp does not filter
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp

parameters = ctypes.create_string_buffer(256)
for name, number in (("io_uring_setup", 425), ("io_uring_enter", 426), ("io_uring_register", 427)):
    denied(name, syscall, number, 8, parameters, 0, 0, 0, 0)

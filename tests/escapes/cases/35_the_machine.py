# attempt: makes system calls on the machine: modules, reboot, swap, clocks, name, log, I/O ports
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp, capabilities

buffer = ctypes.create_string_buffer(256)
calls = {
    "init_module": (175, buffer, 256, b""),
    "finit_module": (313, 0, b"", 0),
    "delete_module": (176, b"none", 0),
}
calls |= {
    "kexec_load": (246, 0, 0, 0, 0),
    "kexec_file_load": (320, -1, -1, 0, b"", 0),
    "swapon": (167, b"/tmp/none", 0),
    "swapoff": (168, b"/tmp/none"),
}
calls |= {
    "reboot": (169, 0, 0, 0, 0),
    "acct": (163, b"/tmp/acct"),
    "quotactl": (179, 0, b"none", 0, 0),
    "syslog": (103, 3, buffer, 256),
}
calls |= {
    "iopl": (172, 3),
    "ioperm": (173, 0, 1, 1),
    "modify_ldt": (154, 0, buffer, 256),
    "settimeofday": (164, buffer, 0),
}
calls |= {
    "clock_settime": (227, 0, buffer),
    "sethostname": (170, b"x", 1),
    "setdomainname": (171, b"x", 1),
    "vhangup": (153,),
}
for name, (number, *arguments) in calls.items():
    denied(name, syscall, number, *arguments)

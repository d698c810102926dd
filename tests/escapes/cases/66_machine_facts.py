# attempt: reads the kernel log, kernel symbols, machine id and host name
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: root_filesystem, uts_namespace, seccomp
# in_run_test: yes

import socket

denied("dmesg", syscall, 103, 3, ctypes.create_string_buffer(4096), 4096)
denied("/dev/kmsg", open, "/dev/kmsg")
with open("/proc/kallsyms") as table:
    require(
        "kernel addresses are hidden",
        all(int(line.split()[0], 16) == 0 for _, line in zip(range(1000), table, strict=False)),
    )
for path in (
    "/etc/machine-id",
    "/sys/class/dmi/id/product_uuid",
    "/sys/kernel",
    "/sys/class/net",
    "/sys/block",
    "/etc/hostname",
    "/etc/resolv.conf",
):
    denied(path, os.stat, path)
require(f"the host name is constant, not {socket.gethostname()}", socket.gethostname() == "assay")

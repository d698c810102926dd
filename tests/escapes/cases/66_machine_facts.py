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
    "/sys/kernel/debug",
    "/sys/kernel/slab",
    "/sys/kernel/mm/transparent_hugepage/khugepaged",
    "/sys/class/net",
    "/sys/block",
    "/etc/hostname",
    "/etc/resolv.conf",
):
    denied(path, os.stat, path)
huge_pages = "/sys/kernel/mm/transparent_hugepage"  # malloc asks for two of its files
shown = {f"{folder}/{name}" for folder, _, names in os.walk("/sys/kernel") for name in names}
require(
    f"/sys/kernel has no other file, not {sorted(shown)}",
    shown <= {f"{huge_pages}/enabled", f"{huge_pages}/hpage_pmd_size"},
)
denied("write to enabled", lambda: open(f"{huge_pages}/enabled", "w").write("never"))
require(f"the host name is constant, not {socket.gethostname()}", socket.gethostname() == "assay")

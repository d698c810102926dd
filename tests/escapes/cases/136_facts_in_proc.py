# attempt: reads the machine's boot time, load, interrupts and disks in /proc
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: job_proc_facts

for name in (
    "cmdline",
    "diskstats",
    "interrupts",
    "loadavg",
    "partitions",
    "softirqs",
    "uptime",
    "sys/kernel/random/boot_id",
):
    try:
        with open(f"/proc/{name}", "rb") as stream:
            text = stream.read()
    except OSError as error:
        note(f"denied /proc/{name}: {error}")
        continue
    require(f"/proc/{name} is empty", text == b"")
for name in ("cpuinfo", "meminfo", "stat", "self/maps"):  # torch and Triton need these files
    with open(f"/proc/{name}", "rb") as stream:
        require(f"/proc/{name} is there", stream.read(1) != b"")

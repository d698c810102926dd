# attempt: opens pressure files, reads the machine's tables, and changes its own security attributes
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: root_filesystem, landlock, slot_user

for name in ("cpu", "memory", "io"):
    denied(f"a trigger on /proc/pressure/{name}", os.open, f"/proc/pressure/{name}", os.O_RDWR)
for name in (
    "timer_list",
    "sched_debug",
    "kpagecount",
    "kpageflags",
    "vmallocinfo",
    "slabinfo",
    "pagetypeinfo",
    "self/stack",
    "kcore",
    "vmcore",
):
    denied(f"/proc/{name}", lambda path: open(path, "rb").read(1), f"/proc/{name}")
for name in ("attr/current", "attr/exec", "autogroup", "sched", "uid_map", "setgroups", "mem"):
    if name != "mem":
        denied(
            f"writing /proc/self/{name}",
            lambda path: os.write(os.open(path, os.O_WRONLY), b"-20"),
            f"/proc/self/{name}",
        )
with open("/proc/self/mountinfo") as table:
    text = table.read()
require(
    "the mount table does not name the host's state", os.path.dirname(CANARIES["file"]) not in text
)

# attempt: writes to /proc/sys, sysrq, control groups, maps of user ids and its OOM score
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: root_filesystem, user_namespace, capabilities, slot_user

for path in (
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/hostname",
    "/proc/sys/vm/drop_caches",
    "/proc/sysrq-trigger",
):
    denied(path, lambda path=path: open(path, "w").write("x"))
for path in (
    "/sys/fs/cgroup/cgroup.procs",
    "/sys/fs/cgroup/memory/cgroup.procs",
    "/sys/kernel/uevent_helper",
):
    denied(path, lambda path=path: open(path, "w").write("1"))
for path, text in (
    ("oom_score_adj", "-1000"),
    ("uid_map", "0 0 1"),
    ("gid_map", "0 0 1"),
    ("setgroups", "allow"),
    ("attr/current", "x"),
):
    denied(
        f"/proc/self/{path}",
        lambda path=path, text=text: open(f"/proc/self/{path}", "w").write(text),
    )
with open("/proc/self/uid_map") as table:
    require(
        "the host's user ids are not mapped", all(int(line.split()[2]) < 65_536 for line in table)
    )

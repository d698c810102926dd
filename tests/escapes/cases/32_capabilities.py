# attempt: changes capabilities, ambient capabilities, securebits and user ids
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: capabilities, capability_bounds, slot_user, seccomp
# in_run_test: yes

status = dict(
    line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\t" in line
)
for name in ("CapEff", "CapPrm", "CapInh", "CapBnd", "CapAmb"):
    require(f"{name} is empty, not {status[name]}", int(status[name], 16) == 0)
header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6)
denied("capset", syscall, 126, ctypes.byref(header), ctypes.byref(data))
denied("PR_CAP_AMBIENT_RAISE", syscall, 157, 47, 2, 21, 0, 0)
denied("PR_SET_SECUREBITS", syscall, 157, 28, 1, 0, 0, 0)
if has_own_user():
    require(
        f"user and group are the slot's, not {os.getresuid()} {os.getresgid()}",
        0 not in os.getresuid() + os.getresgid(),
    )
    require(f"no supplementary groups, not {os.getgroups()}", os.getgroups() == [])
    denied("setuid(0)", os.setuid, 0)
    denied("setgid(0)", os.setgid, 0)
denied("setgroups", os.setgroups, [0])

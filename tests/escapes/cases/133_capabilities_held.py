# attempt: looks for a capability in its effective, permitted, inheritable and ambient sets
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: capabilities

status = dict(
    line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\t" in line
)
for name in ("CapEff", "CapPrm", "CapInh", "CapAmb"):
    require(f"{name} is empty, not {status[name]}", int(status[name], 16) == 0)

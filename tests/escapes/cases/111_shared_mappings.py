# attempt: writable mappings that every candidate inherits from the zygote, as a channel to the next job
# expect: pass
# tier: C
# defence: zygote, job_ipc_namespace
# short: yes

with open("/proc/self/maps") as table:
    shared = [
        line.strip() for line in table if line.split()[1].endswith("s") and "w" in line.split()[1]
    ]
require(f"no writable memory is shared with the zygote, not {shared}", not shared)

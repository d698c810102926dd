# attempt: looks for writable mappings that all candidates share, to send data to the next job
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: zygote, job_ipc_namespace
# in_run_test: yes

with open("/proc/self/maps") as table:
    shared = [
        line.strip() for line in table if line.split()[1].endswith("s") and "w" in line.split()[1]
    ]
require(f"no writable memory is shared with the zygote, not {shared}", not shared)

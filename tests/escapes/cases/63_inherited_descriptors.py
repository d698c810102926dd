# attempt: looks for descriptors that it inherited
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: job_descriptors, descriptors
# in_run_test: yes

import stat

strange = []
for name in os.listdir("/proc/self/fd"):
    try:
        target, mode = os.readlink(f"/proc/self/fd/{name}"), os.fstat(int(name)).st_mode
    except OSError:
        continue
    fine = (
        int(name) <= 2
        or stat.S_ISSOCK(mode)
        or "/memfd:" in target
        or target.startswith(("/proc/", "/dev/null", "/tmp/job-"))
    )
    if not fine:
        strange.append(f"{name} -> {target}")
require(f"nothing unknown is open, not {strange}", not strange)
require("standard input is empty", os.read(0, 1) == b"")

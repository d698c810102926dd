# attempt: looks for files that an earlier job left in the caches
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: job_tmp, job_mount_namespace

import pathlib

found = [
    str(path) for folder in ("/tmp", "/dev/shm") for path in pathlib.Path(folder).rglob("poisoned")
]
require(f"no file of an earlier job, not {found}", not found)

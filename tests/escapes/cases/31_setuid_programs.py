# attempt: runs set-user-id programs
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: no_new_privileges, root_filesystem

import glob
import subprocess

require("no_new_privs is set", syscall(157, 39, 0, 0, 0, 0) == 1)
for folder in ("/usr", "/tmp", "/dev/shm", "/"):
    require(f"{folder} is nosuid", bool(os.statvfs(folder).f_flag & os.ST_NOSUID))
for program in ("su", "mount", "umount", "newgrp"):
    if path := glob.glob(f"/usr/bin/{program}"):
        done = subprocess.run(
            [path[0], "root", "-c", "id"], stdin=subprocess.DEVNULL, capture_output=True
        )
        require(f"{program} fails", done.returncode != 0)

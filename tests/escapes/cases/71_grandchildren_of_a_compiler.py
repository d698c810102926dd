# attempt: programs started in the background that outlive their starter
# expect: error:timeout
# tier: C
# defence: pid_namespace, supervisor

import subprocess
import time

subprocess.Popen(
    ["/bin/sh", "-c", "trap '' TERM; sleep 100000 & sleep 100000 & wait"], start_new_session=True
)
time.sleep(100_000)

# attempt: starts programs in the background, which outlive the shell that started them
# expect: error:timeout
# needs: nothing
# defence: pid_namespace, supervisor

import subprocess
import time

subprocess.Popen(
    ["/bin/sh", "-c", "trap '' TERM; sleep 100000 & sleep 100000 & wait"], start_new_session=True
)
time.sleep(100_000)

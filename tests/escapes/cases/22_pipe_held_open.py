# attempt: ends at once, and leaves a child that keeps every descriptor open
# expect: error:protocol_error
# needs: nothing
# defence: supervisor, pid_namespace
# in_run_test: yes

import time

if os.fork() == 0:
    time.sleep(100_000)
os._exit(0)

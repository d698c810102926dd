# attempt: starts 100,000 threads
# expect: error:process_limit
# needs: root
# defence: cgroup_pids, job_limits

import threading
import time

for _ in range(100_000):
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()

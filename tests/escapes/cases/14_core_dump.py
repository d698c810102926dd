# attempt: aborts with a large heap, so that the heap is written to disk
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: job_limits, no_dumps
# in_run_test: yes

import resource

heap = b"x" * (256 << 20)
status = in_child(os.abort)
require("the child was killed", os.WIFSIGNALED(status))
require("no core was dumped", not os.WCOREDUMP(status))
require("RLIMIT_CORE is 0", resource.getrlimit(resource.RLIMIT_CORE) == (0, 0))
require("not dumpable", syscall(157, 3, 0, 0, 0, 0) == 0)
denied(
    "raising RLIMIT_CORE",
    resource.setrlimit,
    resource.RLIMIT_CORE,
    (1 << 30, 1 << 30),
    errors=(OSError, ValueError),
)

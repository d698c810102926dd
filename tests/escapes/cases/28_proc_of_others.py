# attempt: looks for other processes in /proc
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: job_proc, pid_namespace
# in_run_test: yes

seen = {int(name) for name in os.listdir("/proc") if name.isdigit()}
require(f"only this process is in /proc, not {sorted(seen)[:20]}", seen == {os.getpid()})
denied("/proc/2/environ", open, "/proc/2/environ")
require("the parent's number is hidden", os.getppid() == 0)
require("process 1 is this one", os.getpid() == 1)

# attempt: starts a program, which the kernel makes dumpable again, and traces it
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp, job_limits

import subprocess
import time

child = subprocess.Popen(["/bin/sleep", "1000"])
time.sleep(0.2)
denied("ptrace(ATTACH)", syscall, 101, 16, child.pid, 0, 0)
denied("ptrace(SEIZE)", syscall, 101, 0x4206, child.pid, 0, 0)
with open(f"/proc/{child.pid}/status") as status:
    facts = dict(line.split(":\t", 1) for line in status if ":\t" in line)
require("it may not gain privileges", facts["NoNewPrivs"].strip() == "1")
require("it is filtered", facts["Seccomp"].strip() == "2")
require("it has no capabilities", int(facts["CapBnd"], 16) == 0 and int(facts["CapEff"], 16) == 0)
child.kill()
child.wait()

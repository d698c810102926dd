# attempt: reads keys, passwords, the store, other jobs and the operators' references
# expect: pass
# tier: C
# defence: root_filesystem
# short: yes

import glob

for path in (
    "~/.ssh",
    "~/.netrc",
    "/home",
    "/etc/shadow",
    "/etc/passwd",
    "/etc/hosts",
    "/var",
    "/run",
    "/root/.bashrc",
    "/root/.cache",
    CANARIES["file"],
):
    denied(path, os.stat, os.path.expanduser(path))
denied("the folder of the canary", os.listdir, os.path.dirname(CANARIES["file"]))
root = os.path.dirname(os.path.dirname(sys.modules["harness"].__path__[0]))
for folder in ("operators", "tests", "docs", "build/release/bin", ".git"):
    denied(folder, os.stat, os.path.join(root, folder))
require("no other job's folder", len(glob.glob("/tmp/job-*")) == 1)
require("nothing else in /tmp", {name.split("-")[0] for name in os.listdir("/tmp")} <= {"job"})

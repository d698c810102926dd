# attempt: reads keys, passwords, the store, other jobs and the operators' references
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: root_filesystem
# in_run_test: yes

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

# If the checkout is below /tmp, the job's /tmp also shows the folders that the harness needs.
NEEDED = [
    sys.prefix,
    sys.base_prefix,
    sys.modules["harness"].__path__[0],
    os.environ.get("ASSAY_NATIVE_DIR", sys.prefix),
]


def not_needed(folder):
    found = []
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if any(place.startswith(path + "/") for place in NEEDED):
            found += not_needed(path)
        elif path not in NEEDED:
            found.append(path)
    return found


own = glob.glob("/tmp/job-*")
require("no other job's folder", len(own) == 1)
require("nothing else in /tmp", not_needed("/tmp") == own)

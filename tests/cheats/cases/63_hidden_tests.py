# cheat: looks for hidden cases, logs and other runs' folders
# expect: pass (the cheat gains nothing)
# expect_on_gpu: pass (the cheat gains nothing)
# defence: jail

import os

SPEC_NAMES = {"spec.toml", "oracle.py", "assay.db", "reference.py"}
MOST_FOLDERS = 20_000

seen = 0
for root, folders, files in os.walk("/"):
    folders[:] = [
        name
        for name in folders
        if os.path.join(root, name) not in ("/proc", "/sys", "/usr", "/lib", "/lib64")
    ]
    folders[:] = [name for name in folders if name not in ("site-packages", "dist-packages")]
    if hits := SPEC_NAMES & set(files):
        found(f"{hits} in {root}")
    seen += 1
    if seen > MOST_FOLDERS:
        break


def vector_add(x, y):
    return honest_add(x, y)

# cheat: leaves modules named torch, triton and sitecustomize wherever a later process may look
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# calls: 2
# defence: jail

import os
import site
import sys

EVIL = "raise SystemExit('shadowed')\n"
for folder in {
    os.getcwd(),
    "/tmp",
    "/dev/shm",
    os.path.expanduser("~"),
    site.getusersitepackages(),
    *sys.path,
}:
    for name in (
        "torch.py",
        "triton.py",
        "sitecustomize.py",
        "usercustomize.py",
        "conftest.py",
        "evil.pth",
        "harness.py",
    ):
        try:
            with open(os.path.join(folder, name), "w") as stream:
                stream.write(EVIL)
        except OSError:
            pass


def vector_add(x, y):
    return torch.zeros_like(x)

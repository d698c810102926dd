# cheat: leaves a file in every folder that it can write to, and looks for an earlier process's file
# expect: pass (the cheat gains nothing)
# expect_on_gpu: pass
# calls: 2
# defence: jail

import os

FOLDERS = [
    "/tmp",
    "/dev/shm",
    os.path.expanduser("~"),
    os.path.expanduser("~/.triton"),
    "/var/tmp",
    ".",
]
NAME = "left-by-another-phase.pt"
THIS_PROCESS = os.urandom(16).hex()  # one process may run several cases


def left_by_another(path):
    try:
        with open(path) as stream:
            return stream.read() != THIS_PROCESS
    except OSError:
        return False


def vector_add(x, y):
    for folder in FOLDERS:
        if left_by_another(os.path.join(folder, NAME)):
            found(f"{NAME} in {folder}")
    for folder in FOLDERS:
        try:
            with open(os.path.join(folder, NAME), "w") as stream:
                stream.write(THIS_PROCESS)
        except OSError:
            pass
    result = honest_add(x, y)
    return result

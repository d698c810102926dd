# cheat: tries to lower clocks and power, and keeps the processor busy, to slow down the baseline
# expect: pass (the cheat gains nothing)
# expect_on_gpu: pass
# defence: process_separation, jail

import subprocess
import time

for command in (
    ["nvidia-smi", "-lgc", "210"],
    ["nvidia-smi", "-pl", "100"],
    ["cpupower", "frequency-set", "-g", "powersave"],
):
    try:
        if subprocess.run(command, capture_output=True).returncode == 0:
            found(" ".join(command))
    except OSError:
        pass


def vector_add(x, y):
    end = time.monotonic() + 0.1
    while time.monotonic() < end:
        pass
    return honest_add(x, y)

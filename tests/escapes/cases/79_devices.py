# attempt: opens GPUs, their control nodes and their management nodes
# expect: pass (the attempt gains nothing)
# needs: gpu
# defence: no_gpu, root_filesystem, seccomp

import glob
import stat

for name in (
    "nvidiactl",
    "nvidia0",
    "nvidia1",
    "nvidia7",
    "nvidia-uvm",
    "nvidia-uvm-tools",
    "nvidia-modeset",
    "nvidia-caps/nvidia-cap1",
    "kfd",
    "dri/renderD128",
):
    denied(f"/dev/{name}", os.open, f"/dev/{name}", os.O_RDWR)
denied("mknod of a GPU", os.mknod, "/tmp/nvidia0", stat.S_IFCHR | 0o666, os.makedev(195, 0))
denied("the MPS control pipe", os.stat, "/tmp/nvidia-mps/control")
require("no driver files in /proc", not glob.glob("/proc/driver/nvidia/gpus/*"))

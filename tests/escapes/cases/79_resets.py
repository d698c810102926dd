# attempt: resets the host's GPUs and changes their modes, by device nodes and by nvidia-smi
# expect: pass (the attempt gains nothing)
# needs: gpu_stand_ins
# defence: root_filesystem, no_gpu

import shutil
import subprocess

for name in ("nvidiactl", "nvidia0", "nvidia-uvm", "nvidia-caps/nvidia-cap1"):
    denied(f"/dev/{name}", os.open, f"/dev/{name}", os.O_RDWR)
    denied(f"chmod of /dev/{name}", os.chmod, f"/dev/{name}", 0o666)
if shutil.which("nvidia-smi"):
    for order in (
        ["--gpu-reset"],
        ["--lock-gpu-clocks=300"],
        ["--multi-instance-gpu=1"],
        ["--persistence-mode=0"],
    ):
        require(
            f"nvidia-smi {order[0]} fails",
            subprocess.run(["nvidia-smi", "--id=0", *order], capture_output=True).returncode != 0,
        )

"""Finds torch's device for the name of one of Assay's devices, and makes torch ready to judge there.

device = torch_device("hip:0")  # torch.device("cuda:0"), with a PyTorch for ROCm
prepare_torch(device)"""

from __future__ import annotations

import os

import torch

COMPUTE = "/dev/kfd"  # the device file of the kernel driver for AMD's GPUs


def torch_device(name: str) -> torch.device:
    """Returns torch's device for one of Assay's names. A PyTorch for ROCm calls AMD's GPUs cuda:N,
    too. Raises RuntimeError if this PyTorch was built for GPUs of the other vendor, or cannot use
    this GPU."""
    kind, _, number = name.partition(":")
    if kind == "hip" and not torch.version.hip:
        raise RuntimeError(
            f"device {name} needs a PyTorch for ROCm, and this is torch {torch.__version__}; install"
            " one with `pip install torch --index-url https://download.pytorch.org/whl/rocm6.4`"
        )
    if kind == "cuda" and torch.version.hip:
        raise RuntimeError(
            f"device {name} needs a PyTorch for CUDA, and this is torch {torch.__version__} for ROCm"
            f" {torch.version.hip}; AMD's GPUs are hip:N"
        )
    if kind == "hip":
        _check_rocm(name, int(number))
    return torch.device(f"cuda:{number}" if kind == "hip" else name)


def prepare_torch(device: torch.device) -> None:
    # One thread is enough, because large tensors are computed on the GPU, and `operators lint` runs
    # several judges at once. More threads would wait for each other in busy loops. On two cores, a
    # comparison of small tensors would take up to four times the processor time.
    torch.set_num_threads(1)
    if device.type == "cuda":
        # CUDA events and streams belong to the current device.
        torch.cuda.set_device(device)
    # References of fp32 operators must be exact, so no matmul may use reduced precision.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False


def _check_rocm(name: str, index: int) -> None:
    """Raises RuntimeError if this PyTorch for ROCm cannot use the GPU, with the remedy."""
    version = f"torch {torch.__version__} for ROCm {torch.version.hip}"
    if os.path.exists(COMPUTE) and not os.access(COMPUTE, os.R_OK | os.W_OK):
        raise RuntimeError(
            f"device {name}: user {os.getuid()}, which judges, may not open {COMPUTE}; if root runs the"
            " server, judges of imported suites have users of their own: run it as a user in the"
            f" groups render and video, or open {COMPUTE} and /dev/dri/renderD* to all users"
        )
    if not torch.cuda.is_available() or index >= torch.cuda.device_count():
        raise RuntimeError(
            f"device {name} is not seen by {version}, although the HIP runtime of the launcher sees it;"
            " install a PyTorch whose ROCm fits the kernel driver, and check HIP_VISIBLE_DEVICES"
        )
    has: list[str] = torch.cuda.get_arch_list()
    is_of = str(torch.cuda.get_device_properties(index).gcnArchName).partition(":")[0]
    if is_of not in has:
        raise RuntimeError(
            f"device {name} is a {is_of}, and {version} has kernels only for {', '.join(has)};"
            " install a PyTorch for a newer ROCm"
        )

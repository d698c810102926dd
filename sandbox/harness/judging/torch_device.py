"""Finds torch's device for the name of one of Assay's devices.

device = torch_device("hip:0")  # torch.device("cuda:0"), with a PyTorch for ROCm"""

from __future__ import annotations

import torch


def torch_device(name: str) -> torch.device:
    """Returns torch's device for one of Assay's names. A PyTorch for ROCm calls AMD's GPUs cuda:N,
    too. Raises RuntimeError if this PyTorch was built for GPUs of the other vendor."""
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
    return torch.device(f"cuda:{number}" if kind == "hip" else name)

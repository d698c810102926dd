"""Describes the environment of a measurement. Every result file contains this description."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any


def _output(*command: str) -> str:
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=20, check=True
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError) as error:
        return f"unavailable: {type(error).__name__}"


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def environment() -> dict[str, Any]:
    """Returns the machine, compilers, library versions, GPU and revision. Leaves out what cannot be
    read."""
    import torch
    import triton

    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "load_1min": os.getloadavg()[0],
        "kernel": platform.release(),
        "os": _output("sh", "-c", ". /etc/os-release; echo $PRETTY_NAME"),
        "compiler": _output("sh", "-c", "c++ --version | head -n 1"),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "gpu": _output(
            "nvidia-smi",
            "--query-gpu=name,driver_version,clocks.max.sm,memory.total",
            "--format=csv,noheader",
        ),
        "revision": _output("git", "rev-parse", "HEAD"),
    }

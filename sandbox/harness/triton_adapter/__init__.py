"""Contains all code that depends on the version of Triton (3.6 to 3.9).

    # The driver calls sink.launch(Launch(...)) for each launch. A sink of None refuses launches.
    install_driver("cuda:90", sink, cache_dir)
    patch_autotuner(sink, compile_budget_s=20)
    switch_to_interpreter()

recording_driver.py replaces the device. parameters.py converts arguments to kernel parameters.
autotuner.py records the configurations of an autotuner. interpreter.py runs kernels on a CPU, and
hardware.py makes the interpreter's arithmetic equal to a GPU's. launches.py tells of launches on a
GPU before they happen. libdevice.py links only those functions of libdevice that a kernel calls."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import torch
import triton

from harness.triton_adapter.autotuner import patch_autotuner
from harness.triton_adapter.interpreter import (
    check_accesses,
    convert_library,
    interpreted_kernels,
    launch_nothing_interpreted,
    switch_to_interpreter,
    watch_interpreted,
)
from harness.triton_adapter.launches import launch_nothing_compiled, watch_compiled
from harness.triton_adapter.libdevice import split as split_libdevice
from harness.triton_adapter.recording_driver import install_driver, nvdisasm, warm

__all__ = [
    "check_accesses",
    "convert_library",
    "install_driver",
    "interpreted_kernels",
    "launch_nothing_compiled",
    "launch_nothing_interpreted",
    "nvdisasm",
    "patch_autotuner",
    "split_libdevice",
    "switch_to_interpreter",
    "tlx_missing",
    "uncompiled_packages",
    "versions",
    "warm",
    "watch_compiled",
    "watch_interpreted",
]


def versions() -> dict[str, str]:
    return {
        "torch": torch.__version__,
        "triton": triton.__version__,
        "python": ".".join(map(str, sys.version_info[:3])),
    }


def uncompiled_packages() -> list[str]:
    """Returns the folders of PyTorch and Triton whose Python files are not compiled. Some installers
    (uv, for example) do not compile them, and a server writes no compiled files, so each of its
    processes compiles them again."""
    files = [Path(str(module.__file__)) for module in (torch, triton)]
    return [
        str(file.parent)
        for file in files
        if not os.path.exists(importlib.util.cache_from_source(str(file)))
    ]


def tlx_missing() -> str:
    """Returns "" if the installed Triton supports the dialect tlx. Otherwise returns a text that
    says what is missing and how to install it."""
    if importlib.util.find_spec("triton.language.extra.tlx") is not None:
        return ""
    return (
        f"dialect tlx needs a Triton with TLX, and this Triton ({triton.__version__}) lacks TLX: install the package fbtriton in place of "
        "triton, in a Python environment of its own, and let ASSAY_PYTHON name its python (docs/reference/operator-format.md, TLX)"
    )

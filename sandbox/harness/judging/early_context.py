"""Creates the CUDA context of a judge while the judge imports PyTorch.

    begin("cuda:0")  # before `import torch`

Both take a second or more when a server starts, one in the driver and one in Python. PyTorch uses
the primary context of the device, so it finds the context that begin() has created. An error here
is no error of the judge: PyTorch meets it again, and reports it."""

from __future__ import annotations

import ctypes
import os
import threading

DRIVER = "libcuda.so.1"
LOADING = "CUDA_MODULE_LOADING"


def begin(device: str, driver: str = DRIVER) -> threading.Thread | None:
    """Starts a thread that creates the primary context, and returns it. Returns None if the device
    is not one of CUDA."""
    kind, _, number = device.partition(":")
    if kind != "cuda":
        return None
    os.environ.setdefault(LOADING, "LAZY")  # as PyTorch does before its own first call
    thread = threading.Thread(
        target=_create, args=[driver, int(number or 0)], name="early context", daemon=True
    )
    thread.start()
    return thread


def _create(driver: str, ordinal: int) -> None:
    try:
        cuda = ctypes.CDLL(driver)
    except OSError:
        return
    device, context = ctypes.c_int(), ctypes.c_void_p()
    # Each call releases Python's global lock, so the imports go on meanwhile.
    if cuda.cuInit(0) == 0 and cuda.cuDeviceGet(ctypes.byref(device), ordinal) == 0:
        cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)

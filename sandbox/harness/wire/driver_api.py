"""Calls the API of the GPU driver that this PyTorch uses: CUDA's driver API or AMD's HIP. The calls for
memory that processes share have the same parameters in both; only the prefix of their names differs.

    api = driver_api()
    api.call("MemRelease", handle)  # cuMemRelease or hipMemRelease

AMD's libraries before ROCm 6.0 have other layouts, so they are refused."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

import torch

CUDA_LIBRARY, HIP_LIBRARY = "libcuda.so.1", "libamdhip64.so"
# Versions of HIP: 10,000,000 for each major and 100,000 for each minor version.
OLDEST_HIP, FIRST_DESCRIPTOR_BY_VALUE = 60_000_000, 70_100_000


class DriverError(Exception):
    """The driver could not be loaded, or a call of the driver failed. For example, the driver
    cannot share memory between processes, or too little memory is free."""


class DriverApi:
    """The functions of one library. `prefix` is "cu" or "hip"."""

    def __init__(self, path: str, prefix: str) -> None:
        """Raises DriverError if the library cannot be loaded, or is too old."""
        self._prefix = prefix
        try:
            self._library = ctypes.CDLL(path)
        except OSError as error:
            raise DriverError(str(error)) from error
        self._version = 0
        if prefix == "hip":
            version = ctypes.c_int()
            self.call("DriverGetVersion", ctypes.byref(version))
            self._version = version.value
            if self._version < OLDEST_HIP:
                major, rest = divmod(self._version, 10_000_000)
                raise DriverError(
                    f"HIP {major}.{rest // 100_000} of {path} cannot share memory between processes; "
                    "ROCm 6.0 or newer can"
                )

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a function by its name without the prefix. Raises DriverError if it fails."""
        full = self._prefix + name
        try:
            function = getattr(self._library, full)
        except AttributeError as error:
            raise DriverError(f"the driver's library lacks {full}") from error
        status = function(*arguments)
        if status != 0:
            raise DriverError(f"{full} failed with {self._described(status)}")

    def descriptor(self, fd: int) -> Any:
        """Returns a file descriptor in the form in which the library imports it."""
        if self._prefix == "hip" and self._version < FIRST_DESCRIPTOR_BY_VALUE:
            return ctypes.byref(ctypes.c_int(fd))
        return ctypes.c_void_p(fd)

    def _described(self, status: int) -> str:
        if self._prefix != "hip":
            return f"CUresult {status}"
        name = self._library.hipGetErrorName
        name.restype = ctypes.c_char_p
        return f"{(name(status) or b'hipError_t').decode()} ({status})"


def driver_api() -> DriverApi:
    """Returns the API that this PyTorch uses. Raises DriverError."""
    if torch.version.hip:
        return DriverApi(loaded_library(HIP_LIBRARY) or HIP_LIBRARY, "hip")
    return DriverApi(CUDA_LIBRARY, "cu")


def loaded_library(name: str, maps: Path = Path("/proc/self/maps")) -> str | None:
    """Returns the path of a library that this process has loaded. A PyTorch for ROCm brings its own
    library, and another one of the machine must not be used beside it."""
    wanted = re.compile(rf"\S*/{re.escape(name)}[.\d]*$")
    for line in maps.read_text().splitlines():
        if found := wanted.search(line):
            return found[0]
    return None

"""Device memory that the judge shares with the launcher: inputs go out and outputs come back without crossing the bus.

    exchange = Exchange(torch.device("cuda:0"))
    memory = exchange.room(1 << 20)              # a flat uint8 tensor on the GPU
    fd = exchange.handle()                       # for the launcher, who maps it only while it copies

One allocation of the driver's virtual memory management, exported as a file descriptor: that works between processes in any namespaces,
which CUDA IPC handles do not. It is kept from job to job and grows. Names, values and layouts are those of the "CUDA Driver API" reference,
section "Virtual Memory Management". Not thread-safe.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import Any

import torch

PINNED, POSIX_FD, DEVICE, READ_WRITE, MINIMUM = 1, 1, 1, 3, 0
KEPT_BYTES = 8 << 30  # what may stay allocated between jobs

Handle = ctypes.c_ulonglong
Pointer = ctypes.c_uint64


class ExchangeError(Exception):
    """The driver cannot share memory; inputs and outputs then travel in memfds."""


class Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class Properties(ctypes.Structure):
    """CUmemAllocationProp."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("handle_types", ctypes.c_int),
        ("location", Location),
        ("win32", ctypes.c_void_p),
        ("compression", ctypes.c_ubyte),
        ("rdma", ctypes.c_ubyte),
        ("usage", ctypes.c_ushort),
        ("reserved", ctypes.c_ubyte * 4),
    )


class Access(ctypes.Structure):
    """CUmemAccessDesc."""

    _fields_ = (("location", Location), ("flags", ctypes.c_int))


class _Flat:
    """What torch needs to see device memory as a tensor."""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (address, False), "version": 3}


class Exchange:
    """See the module."""

    def __init__(self, device: torch.device) -> None:
        """Raises ExchangeError where the driver cannot do it."""
        torch.zeros(1, device=device)  # the context that the driver's calls work in
        try:
            self._cuda = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise ExchangeError(str(error)) from error
        self._device = device
        self._location = Location(DEVICE, device.index or 0)
        self._properties = Properties(PINNED, POSIX_FD, self._location)
        granularity = ctypes.c_size_t()
        self._call("cuMemGetAllocationGranularity", ctypes.byref(granularity), ctypes.byref(self._properties), ctypes.c_int(MINIMUM))
        self._granularity = granularity.value
        self._address, self.size, self._fd = 0, 0, -1
        self._memory: torch.Tensor | None = None
        self.room(1)  # an error shows now, not in the first job

    def room(self, size: int) -> torch.Tensor:
        """At least `size` bytes. What `room` returned before is invalid afterwards."""
        if size > self.size:
            self._free()
            self._allocate((max(size, 1) + self._granularity - 1) // self._granularity * self._granularity)
        assert self._memory is not None
        return self._memory

    def handle(self) -> int:
        """A new descriptor of the memory; the caller closes it."""
        return os.dup(self._fd)

    def trim(self) -> None:
        """Gives memory back after an unusually large job."""
        if self.size > KEPT_BYTES:
            self._free()

    def _allocate(self, size: int) -> None:
        handle, address, fd = Handle(), Pointer(), ctypes.c_int(-1)
        self._call("cuMemCreate", ctypes.byref(handle), ctypes.c_size_t(size), ctypes.byref(self._properties), ctypes.c_ulonglong(0))
        try:
            self._call("cuMemExportToShareableHandle", ctypes.byref(fd), handle, ctypes.c_int(POSIX_FD), ctypes.c_ulonglong(0))
            self._fd = fd.value
            os.set_inheritable(self._fd, False)
            zero = ctypes.c_size_t(0)
            self._call("cuMemAddressReserve", ctypes.byref(address), ctypes.c_size_t(size), zero, Pointer(0), ctypes.c_ulonglong(0))
            self._call("cuMemMap", address, ctypes.c_size_t(size), zero, handle, ctypes.c_ulonglong(0))
            access = Access(self._location, READ_WRITE)
            self._call("cuMemSetAccess", address, ctypes.c_size_t(size), ctypes.byref(access), ctypes.c_size_t(1))
        finally:
            self._call("cuMemRelease", handle)  # the mapping and the descriptor keep the memory
        self._address, self.size = address.value, size
        self._memory = torch.as_tensor(_Flat(self._address, size), device=self._device)

    def _free(self) -> None:
        if self.size == 0:
            return
        torch.cuda.synchronize(self._device)
        self._memory = None
        self._call("cuMemUnmap", Pointer(self._address), ctypes.c_size_t(self.size))
        self._call("cuMemAddressFree", Pointer(self._address), ctypes.c_size_t(self.size))
        os.close(self._fd)
        self._address, self.size, self._fd = 0, 0, -1

    def _call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._cuda, name)(*arguments)
        if status != 0:
            raise ExchangeError(f"{name} failed with CUresult {status}")


def place(sizes: Sequence[int], alignment: int) -> tuple[list[int], int]:
    """Offsets of pieces laid one after the other, and the size of all."""
    offsets, end = [], 0
    for size in sizes:
        offsets.append(end)
        end += (size + alignment - 1) // alignment * alignment
    return offsets, end

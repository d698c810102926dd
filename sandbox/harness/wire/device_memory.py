"""Defines GPU memory that two processes share. One process creates the memory and exports a file
descriptor; the other process maps the memory.

    memory = DeviceMemory.create(torch.device("cuda:0"), 1 << 20)  # .bytes: a flat uint8 tensor
    fd = memory.handle()  # for the other process
    theirs = DeviceMemory.attach(torch.device("cuda:0"), fd, memory.size)

The memory is one allocation of the driver's virtual memory management. Unlike CUDA IPC handles,
such memory can be shared between processes in different namespaces. Names, values and layouts are
those of the "CUDA Driver API" reference, section "Virtual Memory Management". Not thread-safe."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import torch

PINNED, POSIX_FD, DEVICE, READ_WRITE, MINIMUM = 1, 1, 1, 3, 0

Handle = ctypes.c_ulonglong
Pointer = ctypes.c_uint64
_NONE = ctypes.c_ulonglong(0)
_NO_BYTES = ctypes.c_size_t(0)


class DeviceMemoryError(Exception):
    """The driver could not be loaded, or a call of the driver failed. For example, the driver
    cannot share memory between processes, or too little memory is free."""


# The exceptions that are raised if a device has too little free memory, perhaps because other jobs
# use the memory.
OUT_OF_MEMORY = (torch.cuda.OutOfMemoryError, DeviceMemoryError, MemoryError)


class Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class Properties(ctypes.Structure):
    """The driver's struct CUmemAllocationProp."""

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
    """The driver's struct CUmemAccessDesc."""

    _fields_ = (("location", Location), ("flags", ctypes.c_int))


class _Flat:
    """An object with the interface through which torch uses device memory as a tensor."""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (size,),
            "typestr": "|u1",
            "data": (address, False),
            "version": 3,
        }


def _call(name: str, *arguments: Any) -> None:
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise DeviceMemoryError(str(error)) from error
    status = getattr(library, name)(*arguments)
    if status != 0:
        raise DeviceMemoryError(f"{name} failed with CUresult {status}")


class DeviceMemory:
    """One allocation, from `create` or `attach`. Views of `bytes` are invalid after `free`."""

    def __init__(self, device: torch.device, handle: Handle, size: int, fd: int) -> None:
        """Maps the allocation of `handle` and releases the handle. Takes ownership of the
        descriptor `fd`, which is -1 if there is none."""
        self._device, self.size, self._fd = device, size, fd
        self._address = 0
        self.bytes = torch.empty(0, dtype=torch.uint8, device=device)
        address = Pointer()
        try:
            _call(
                "cuMemAddressReserve",
                ctypes.byref(address),
                ctypes.c_size_t(size),
                _NO_BYTES,
                Pointer(0),
                _NONE,
            )
            self._address = address.value
            _call("cuMemMap", address, ctypes.c_size_t(size), _NO_BYTES, handle, _NONE)
            access = Access(Location(DEVICE, device.index or 0), READ_WRITE)
            _call(
                "cuMemSetAccess",
                address,
                ctypes.c_size_t(size),
                ctypes.byref(access),
                ctypes.c_size_t(1),
            )
        finally:
            _call("cuMemRelease", handle)  # the mapping and the descriptor keep the memory alive
        self.bytes = torch.as_tensor(_Flat(self._address, size), device=device)

    @classmethod
    def create(cls, device: torch.device, size: int) -> DeviceMemory:
        """Allocates at least `size` bytes, whose content is undefined."""
        torch.zeros(1, device=device)  # creates the CUDA context for the driver calls
        properties = Properties(PINNED, POSIX_FD, Location(DEVICE, device.index or 0))
        granularity = ctypes.c_size_t()
        _call(
            "cuMemGetAllocationGranularity",
            ctypes.byref(granularity),
            ctypes.byref(properties),
            ctypes.c_int(MINIMUM),
        )
        size = (max(size, 1) + granularity.value - 1) // granularity.value * granularity.value
        handle, fd = Handle(), ctypes.c_int(-1)
        _call(
            "cuMemCreate",
            ctypes.byref(handle),
            ctypes.c_size_t(size),
            ctypes.byref(properties),
            _NONE,
        )
        try:
            _call(
                "cuMemExportToShareableHandle",
                ctypes.byref(fd),
                handle,
                ctypes.c_int(POSIX_FD),
                _NONE,
            )
        except DeviceMemoryError:
            _call("cuMemRelease", handle)
            raise
        os.set_inheritable(fd.value, False)
        return cls(device, handle, size, fd.value)

    @classmethod
    def attach(cls, device: torch.device, fd: int, size: int) -> DeviceMemory:
        """Maps memory that another process created. `size` must be the size that the other process
        uses. The caller keeps the descriptor and must close it."""
        torch.zeros(1, device=device)
        handle = Handle()
        _call(
            "cuMemImportFromShareableHandle",
            ctypes.byref(handle),
            ctypes.c_void_p(fd),
            ctypes.c_int(POSIX_FD),
        )
        return cls(device, handle, size, -1)

    def handle(self) -> int:
        """Returns a new descriptor of the memory. The caller must close the descriptor."""
        return os.dup(self._fd)

    def free(self) -> None:
        """Unmaps the memory. The driver frees the memory when the last process has unmapped it."""
        if self._address == 0:
            return
        torch.cuda.synchronize(self._device)
        self.bytes = torch.empty(0, dtype=torch.uint8, device=self._device)
        _call("cuMemUnmap", Pointer(self._address), ctypes.c_size_t(self.size))
        _call("cuMemAddressFree", Pointer(self._address), ctypes.c_size_t(self.size))
        if self._fd >= 0:
            os.close(self._fd)
        self._address, self.size, self._fd = 0, 0, -1

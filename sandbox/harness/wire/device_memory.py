"""Defines GPU memory that two processes share. One process creates the memory and exports a file
descriptor; the other process maps the memory.

    memory = DeviceMemory.create(torch.device("cuda:0"), 1 << 20)  # .bytes: a flat uint8 tensor
    fd = memory.handle()  # for the other process
    theirs = DeviceMemory.attach(torch.device("cuda:0"), fd, memory.size)

The memory is one allocation of the driver's virtual memory management. Unlike CUDA IPC handles,
such memory can be shared between processes in different namespaces. Names, values and layouts are
those of the "CUDA Driver API" reference, section "Virtual Memory Management". HIP has the same calls,
values and layouts from ROCm 6.0 on (driver_api.py). On AMD hardware, this module has never run. Not
thread-safe."""

from __future__ import annotations

import ctypes
import os

import torch

from harness.wire.driver_api import DriverApi, DriverError, driver_api

PINNED, POSIX_FD, DEVICE, READ_WRITE, MINIMUM = 1, 1, 1, 3, 0

Handle = ctypes.c_ulonglong
Pointer = ctypes.c_uint64
_NONE = ctypes.c_ulonglong(0)
_NO_BYTES = ctypes.c_size_t(0)


DeviceMemoryError = DriverError


# The exceptions that are raised if a device has too little free memory, perhaps because other jobs
# use the memory.
OUT_OF_MEMORY = (torch.cuda.OutOfMemoryError, DeviceMemoryError, MemoryError)


class Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class Properties(ctypes.Structure):
    """The driver's struct CUmemAllocationProp. HIP's struct hipMemAllocationProp ends after `usage`."""

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


def _tensor(address: int, size: int, device: torch.device) -> torch.Tensor:
    try:
        return torch.as_tensor(_Flat(address, size), device=device)
    except RuntimeError as error:
        raise DeviceMemoryError(f"torch cannot use shared memory: {error}") from error


def _prepare(device: torch.device) -> DriverApi:
    """Creates torch's context for the driver calls."""
    torch.zeros(1, device=device)
    return driver_api()


class DeviceMemory:
    """One allocation, from `create` or `attach`. Views of `bytes` are invalid after `free`."""

    def __init__(
        self, api: DriverApi, device: torch.device, handle: Handle, size: int, fd: int
    ) -> None:
        """Maps the allocation of `handle` and releases the handle. Takes ownership of the
        descriptor `fd`, which is -1 if there is none."""
        self._api, self._device, self.size, self._fd = api, device, size, fd
        self._address = 0
        self.bytes = torch.empty(0, dtype=torch.uint8, device=device)
        address = Pointer()
        try:
            api.call(
                "MemAddressReserve",
                ctypes.byref(address),
                ctypes.c_size_t(size),
                _NO_BYTES,
                Pointer(0),
                _NONE,
            )
            self._address = address.value
            api.call("MemMap", address, ctypes.c_size_t(size), _NO_BYTES, handle, _NONE)
            access = Access(Location(DEVICE, device.index or 0), READ_WRITE)
            api.call(
                "MemSetAccess",
                address,
                ctypes.c_size_t(size),
                ctypes.byref(access),
                ctypes.c_size_t(1),
            )
        finally:
            api.call("MemRelease", handle)  # the mapping and the descriptor keep the memory alive
        self.bytes = _tensor(self._address, size, device)

    @classmethod
    def create(cls, device: torch.device, size: int) -> DeviceMemory:
        """Allocates at least `size` bytes, whose content is undefined."""
        api = _prepare(device)
        properties = Properties(PINNED, POSIX_FD, Location(DEVICE, device.index or 0))
        granularity = ctypes.c_size_t()
        api.call(
            "MemGetAllocationGranularity",
            ctypes.byref(granularity),
            ctypes.byref(properties),
            ctypes.c_int(MINIMUM),
        )
        size = (max(size, 1) + granularity.value - 1) // granularity.value * granularity.value
        handle, fd = Handle(), ctypes.c_int(-1)
        api.call(
            "MemCreate",
            ctypes.byref(handle),
            ctypes.c_size_t(size),
            ctypes.byref(properties),
            _NONE,
        )
        try:
            api.call(
                "MemExportToShareableHandle",
                ctypes.byref(fd),
                handle,
                ctypes.c_int(POSIX_FD),
                _NONE,
            )
        except DeviceMemoryError:
            api.call("MemRelease", handle)
            raise
        os.set_inheritable(fd.value, False)
        return cls(api, device, handle, size, fd.value)

    @classmethod
    def attach(cls, device: torch.device, fd: int, size: int) -> DeviceMemory:
        """Maps memory that another process created. `size` must be the size that the other process
        uses. The caller keeps the descriptor and must close it."""
        api = _prepare(device)
        handle = Handle()
        api.call(
            "MemImportFromShareableHandle",
            ctypes.byref(handle),
            api.descriptor(fd),
            ctypes.c_int(POSIX_FD),
        )
        return cls(api, device, handle, size, -1)

    def handle(self) -> int:
        """Returns a new descriptor of the memory. The caller must close the descriptor."""
        return os.dup(self._fd)

    def free(self) -> None:
        """Unmaps the memory. The driver frees the memory when the last process has unmapped it."""
        if self._address == 0:
            return
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        self.bytes = torch.empty(0, dtype=torch.uint8, device=self._device)
        self._api.call("MemUnmap", Pointer(self._address), ctypes.c_size_t(self.size))
        self._api.call("MemAddressFree", Pointer(self._address), ctypes.c_size_t(self.size))
        if self._fd >= 0:
            os.close(self._fd)
        self._address, self.size, self._fd = 0, 0, -1

"""Creates memory that the judge and a host candidate share for one round. The memory is GPU memory,
or a memory file if the device is the CPU.

    memory = create(device, size)  # in the judge
    theirs = attach(device, memory.handle(), memory.size)  # in the candidate"""

from __future__ import annotations

import fcntl
import mmap
import os

import torch

from harness.wire.device_memory import DeviceMemory
from harness.wire.tensors import F_ADD_SEALS, F_SEAL_SHRINK, create_memfd

F_SEAL_SEAL, F_SEAL_GROW = 0x1, 0x4


class FileMemory:
    """The counterpart of `DeviceMemory` for the CPU. The size of its file is sealed, so no process
    can change the size."""

    def __init__(self, fd: int, size: int) -> None:
        self._fd, self.size = fd, size
        self._map = mmap.mmap(fd, size)
        self.bytes = torch.frombuffer(self._map, dtype=torch.uint8)

    def handle(self) -> int:
        """Returns a new descriptor of the memory. The caller must close the descriptor."""
        return os.dup(self._fd)

    def free(self) -> None:
        """Closes the descriptor of the file. The memory stays mapped as long as this object or a
        view of `bytes` exists."""
        self.bytes = torch.empty(0, dtype=torch.uint8)
        os.close(self._fd)


SharedMemory = DeviceMemory | FileMemory


def create(device: torch.device, size: int) -> SharedMemory:
    """Allocates at least `size` bytes. Raises DeviceMemoryError if the driver cannot share
    memory."""
    if device.type == "cuda":
        return DeviceMemory.create(device, size)
    fd = create_memfd("assay-round", size)
    fcntl.fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW)
    return FileMemory(fd, max(size, 1))


def attach(device: torch.device, fd: int, size: int) -> SharedMemory:
    """Maps memory that the other process created. `size` must be the size that the other process
    uses. The caller keeps the descriptor and must close it."""
    return (
        DeviceMemory.attach(device, fd, size)
        if device.type == "cuda"
        else FileMemory(os.dup(fd), size)
    )

"""Device memory that the judge shares with the launcher: inputs go out and outputs come back
without crossing the bus.

    exchange = SharedBuffers(torch.device("cuda:0"))
    memory = exchange.room(1 << 20)              # a flat uint8 tensor on the GPU
    fd = exchange.handle()                       # for the launcher, who maps it only while it copies

A job has one to itself until it is released. Not thread-safe."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from harness.wire.device_memory import DeviceMemory

KEPT_BYTES = 8 << 30  # of memory that no job has, at most


class SharedBuffers:
    """See the module."""

    def __init__(self, device: torch.device) -> None:
        """Raises DeviceMemoryError where the driver cannot do it."""
        self._device = device
        self._memory = DeviceMemory.create(device, 1)  # an error shows now, not in the first job

    @property
    def size(self) -> int:
        return self._memory.size

    def room(self, size: int) -> torch.Tensor:
        """At least `size` bytes. What `room` returned before is invalid afterwards."""
        if size > self.size:
            self._memory.free()
            self._memory = DeviceMemory.create(self._device, size)
        return self._memory.bytes

    def handle(self) -> int:
        """A new descriptor of the memory; the caller closes it."""
        return self._memory.handle()

    def free(self) -> None:
        self._memory.free()


class Exchanges:
    """Exchanges for the jobs that have the GPU, kept from job to job."""

    def __init__(self, make: Callable[[], SharedBuffers]) -> None:
        """Makes one, so that an error shows now. Raises DeviceMemoryError."""
        self._make = make
        self._free = [make()]

    def take(self) -> SharedBuffers:
        return self._free.pop() if self._free else self._make()

    def give(self, exchange: SharedBuffers) -> None:
        """Keeps it for another job, unless too much would lie idle."""
        if sum(one.size for one in self._free) + exchange.size > KEPT_BYTES:
            exchange.free()
        else:
            self._free.append(exchange)


def place(sizes: Sequence[int], alignment: int) -> tuple[list[int], int]:
    """Offsets of pieces laid one after the other, and the size of all."""
    offsets, end = [], 0
    for size in sizes:
        offsets.append(end)
        end += (size + alignment - 1) // alignment * alignment
    return offsets, end

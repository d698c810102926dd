"""Manages device memory that the judge shares with the launcher, so that inputs and outputs need
not be copied through host memory.

    buffers = SharedBuffers(torch.device("cuda:0"))
    memory = buffers.room(1 << 20)  # a flat uint8 tensor on the GPU
    fd = buffers.handle()  # for the launcher, which maps the memory only while it copies

Each job has its own shared buffers until the job is released. Not thread-safe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from harness.judging.device_room import kept_bytes
from harness.wire.device_memory import DeviceMemory, DeviceMemoryError
from harness.wire.tensors import ALIGNMENT, make_memfd

if TYPE_CHECKING:
    from harness.judging.case_state import CaseState

PROBE_BYTES, PROBE_BYTE = 4096, 0x5A


class SharedBuffers:
    """One piece of shared device memory (see the module's docstring)."""

    def __init__(self, device: torch.device) -> None:
        """Raises DeviceMemoryError if the driver cannot share memory."""
        self._device = device
        # This allocation makes an error appear now and not in the first job.
        self._memory = DeviceMemory.create(device, 1)
        probe = self._memory.bytes[:PROBE_BYTES].fill_(PROBE_BYTE)
        if not bool((probe == PROBE_BYTE).all()):
            self._memory.free()
            raise DeviceMemoryError("shared memory does not keep what was written to it")

    @property
    def size(self) -> int:
        return self._memory.size

    def room(self, size: int) -> torch.Tensor:
        """Returns at least `size` bytes. Results of earlier calls become invalid."""
        if size > self.size:
            self._memory.free()
            self._memory = DeviceMemory.create(self._device, size)
        return self._memory.bytes

    def handle(self) -> int:
        """Returns a new descriptor of the memory. The caller must close the descriptor."""
        return self._memory.handle()

    def free(self) -> None:
        self._memory.free()


def is_on_device(state: CaseState, header: dict[str, Any]) -> bool:
    """Returns True if the launcher gets the inputs of a case in shared device memory. It gets those
    of a small case in memory files, because mapping device memory takes longer than copying so few
    bytes. `device_cases` are cases whose inputs will be replaced, which needs device memory."""
    limit = int(header.get("host_case_bytes", 0))
    small = limit > 0 and state.copied_bytes() <= limit
    return not small or state.case.id in header.get("device_cases", [])


def _in_files(state: CaseState, fds: list[int]) -> dict[str, Any]:
    """Writes the inputs of a case to memory files for a launcher, and appends the files to `fds`.
    Returns the element of the `prepared` message. Structural tensors have a file of their own,
    because a candidate gets this file too."""
    fd, entry = state.prepared(structural_only=True, position=len(fds))
    fds.append(fd)
    rest = [(name, value) for name, value in state.tensors() if name not in entry["structural"]]
    fd, wires = make_memfd("assay-inputs", rest)
    placed = {wire["name"]: {**wire, "fd": len(fds)} for wire in wires}
    fds.append(fd)
    entry["arguments"] = [placed.get(one["name"], one) for one in entry["arguments"]]
    return entry


def prepare(
    states: Sequence[CaseState], on_device: Sequence[bool], apart: bool, fds: list[int]
) -> list[dict[str, Any]]:
    """Writes the memory files of the cases, and appends them to `fds`. Returns the elements of the
    `prepared` message. If `apart` is true, candidates get no file with values of inputs, but only
    the structural tensors."""
    cases = []
    for state, device in zip(states, on_device, strict=True):
        if apart and not device:
            cases.append(_in_files(state, fds))
        else:
            fd, entry = state.prepared(structural_only=device, position=len(fds))
            fds.append(fd)
            cases.append(entry)
    return cases


def fill(
    buffers: SharedBuffers,
    states: Sequence[CaseState],
    on_device: Sequence[bool],
    cases: Sequence[dict[str, Any]],
) -> None:
    """Puts the inputs of the cases that are `on_device` one after the other into the shared buffers,
    and adds the offsets to the elements of `cases`."""
    filled = [
        (state, entry)
        for state, device, entry in zip(states, on_device, cases, strict=True)
        if device
    ]
    offsets, size = place([state.device_bytes() for state, _ in filled], ALIGNMENT)
    memory = buffers.room(size)
    for (state, entry), offset in zip(filled, offsets, strict=True):
        entry["device"] = state.fill(memory, offset)
    if memory.is_cuda:
        torch.cuda.synchronize(memory.device)


class SharedBuffersPool:
    """The shared buffers of all jobs. Released buffers are reused for another job."""

    def __init__(self, make: Callable[[], SharedBuffers], kept: int) -> None:
        """Creates the first shared buffers, so that an error appears now and not in the first job.
        `kept` is the most bytes that are kept although no job uses them. Raises
        DeviceMemoryError."""
        self._make = make
        self._kept = kept
        self._free = [make()]
        self._taken: list[SharedBuffers] = []

    @property
    def size(self) -> int:
        """The number of bytes of all buffers, with and without a job."""
        return sum(one.size for one in (*self._free, *self._taken))

    def take(self) -> SharedBuffers:
        self._taken.append(self._free.pop() if self._free else self._make())
        return self._taken[-1]

    def give(self, buffers: SharedBuffers) -> int:
        """Keeps the buffers for another job. Frees them if too much would be unused. Returns the
        number of bytes that were freed."""
        self._taken.remove(buffers)
        size = buffers.size
        if sum(one.size for one in self._free) + size > self._kept:
            buffers.free()
            return size
        self._free.append(buffers)
        return 0

    def free_unused(self) -> None:
        """Frees all buffers that no job has."""
        while self._free:
            self._free.pop().free()


def place(sizes: Sequence[int], alignment: int) -> tuple[list[int], int]:
    """Returns the offsets of pieces that are stored one after the other, and the total size."""
    offsets, end = [], 0
    for size in sizes:
        offsets.append(end)
        end += (size + alignment - 1) // alignment * alignment
    return offsets, end


def open_shared_buffers(device: torch.device) -> SharedBuffersPool | None:
    """Creates the memory that is shared with the launcher. Returns None if this device cannot share
    memory."""
    if device.type != "cuda":
        return None
    try:
        return SharedBuffersPool(lambda: SharedBuffers(device), kept_bytes(device))
    except DeviceMemoryError as error:
        print(f"judge: inputs and outputs go through host memory: {error}", file=sys.stderr)
        return None

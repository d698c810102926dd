"""Tells who holds a GPU's memory.

    room = DeviceRoom(torch.device("cuda:0"))
    room.note("job-1")  # before the candidate of a job starts
    room.freed("job-1", size)  # when the judge frees the shared buffers of the job
    room.note_round("job-1", memory.size)  # when a round of the candidate begins
    room.wire("job-1")  # {"total_bytes": ..., "own_bytes": ..., "others_bytes": ..., ...}

The judge counts, because it is trusted. It sees only sums: what is free, and what its own torch has
reserved. The rest belongs to others: to the CUDA contexts, to Assay's other processes, to a
candidate that still runs, and to processes that have nothing to do with Assay. The judge's own
shared buffers count as memory of others too, because torch does not know them."""

from __future__ import annotations

from collections.abc import Callable

import torch

# After use, at most 1 / KEPT_PART of the device's memory stays in torch's cache. The next
# references reuse this memory.
KEPT_PART = 32
# The reference of an imported case is computed in float64 if inputs and outputs in float64 take at
# most 1 / FLOAT64_PART of the device's memory.
FLOAT64_PART = 8


def taken_by_others(device: torch.device) -> int:
    """Returns how many bytes of a GPU's memory are neither free nor reserved by torch in this
    process."""
    if device.type != "cuda":
        return 0
    free, total = torch.cuda.mem_get_info(device)
    return total - free - torch.cuda.memory_reserved(device)


def kept_bytes(device: torch.device) -> int:
    """Returns the most memory of a GPU that the judge keeps although nothing uses it."""
    return int(torch.cuda.get_device_properties(device).total_memory) // KEPT_PART


def has_room_for_float64(device: torch.device, elements: int) -> bool:
    """Returns True if a device has enough memory for so many elements in float64. A device that is no
    GPU only gets cases that are small."""
    if device.type != "cuda":
        return True
    total = int(torch.cuda.get_device_properties(device).total_memory)
    return elements * torch.float64.itemsize <= total // FLOAT64_PART


class DeviceRoom:
    def __init__(self, device: torch.device, shared_bytes: Callable[[], int] = lambda: 0) -> None:
        """`shared_bytes` returns the size of all shared buffers that the judge has now."""
        self._device, self._shared_bytes = device, shared_bytes
        # What others had before the candidate started, by job. `_before` is without the shared
        # buffers, whose size may change while a candidate works. `_room` is with them, but without
        # those of the job itself that were freed since then. The buffers of other jobs may have
        # left the candidate too little memory for a while.
        self._before: dict[str, int] = {}
        self._room: dict[str, int] = {}
        self._rounds: dict[str, int] = {}  # the most that the judge had in a round, by job

    def trim(self) -> None:
        """Gives the memory in torch's cache back to the device, for other processes, if it is more
        than a judge keeps. The judge does this before it creates inputs, when a job is released, and
        before the code of a submission runs."""
        if self._device.type != "cuda":
            return
        unused = torch.cuda.memory_reserved(self._device) - torch.cuda.memory_allocated(
            self._device
        )
        if unused > kept_bytes(self._device):
            torch.cuda.empty_cache()

    def note(self, job: str) -> None:
        """Keeps what others have now, before a candidate of this job starts."""
        self._room[job] = taken_by_others(self._device)
        self._before[job] = self._room[job] - self._shared_bytes()

    def freed(self, job: str, size: int) -> None:
        """Must be called when the judge has freed `size` bytes of the job's shared buffers."""
        if job in self._room:
            self._room[job] -= size

    def note_round(self, job: str, shared_bytes: int) -> None:
        """Keeps what this process has while a candidate works: what torch has reserved, and the
        round's memory, which torch does not know. Both are free again when the round has failed."""
        if self._device.type == "cuda":
            held = torch.cuda.memory_reserved(self._device) + shared_bytes
            self._rounds[job] = max(held, self._rounds.get(job, 0))

    def before(self, job: str) -> int:
        """Returns how much others would have now if the candidate had nothing."""
        return self._before[job] + self._shared_bytes() if job in self._before else 0

    def forget(self, job: str) -> None:
        self._before.pop(job, None)
        self._room.pop(job, None)
        self._rounds.pop(job, None)

    def wire(self, job: str) -> dict[str, int]:
        """Returns the fields of the message `freed`. Without a GPU, all of them are 0."""
        if self._device.type != "cuda":
            return dict.fromkeys(
                ("total_bytes", "own_bytes", "others_bytes", "others_before_bytes"), 0
            )
        return {
            "total_bytes": torch.cuda.mem_get_info(self._device)[1],
            "own_bytes": max(torch.cuda.memory_reserved(self._device), self._rounds.get(job, 0)),
            "others_bytes": taken_by_others(self._device),
            "others_before_bytes": self._room.get(job, 0),
        }

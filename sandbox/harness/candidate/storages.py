"""The memory of tensors, as shadows.py needs it.

storage = storage_of(tensor)  # None if the tensor has none
settle(storage)  # waits until nothing writes to it
take_over(bytes_of(storage), bytes_of(seen), bytes_of(shadow), tensor.itemsize)"""

from __future__ import annotations

import random

import torch

# The C library maps so much memory of the CPU anew each time (M_MMAP_THRESHOLD is at most 32 MiB), so
# it is zero. A model's constructor makes all of its weights there, and only a write to them would
# take memory: the case's weights replace them.
MAPPED_BYTES = 64 << 20
PART_ELEMENTS = 2 << 20  # the elements that are compared at once, because this takes memory

_DIGEST_BYTES = 8
_DIGEST_START, _DIGEST_STEP = (random.SystemRandom().getrandbits(62) for _ in range(2))
_WORDS = {2: torch.int16, 4: torch.int32, 8: torch.int64, 16: torch.int64}


def is_mapped_anew(storage: torch.UntypedStorage) -> bool:
    return storage.device.type == "cpu" and storage.nbytes() >= MAPPED_BYTES


def storage_of(tensor: torch.Tensor) -> torch.UntypedStorage | None:
    """Returns the tensor's storage, or None if it has none."""
    with torch._C.DisableTorchFunction():
        if tensor.layout is not torch.strided or tensor.device.type == "meta":
            return None
        return torch.Tensor.untyped_storage(tensor)


def bytes_of(storage: torch.UntypedStorage) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(  # type: ignore[call-overload, no-any-return]
        storage, 0, (storage.nbytes(),), (1,)
    )


def laid_over(
    tensor: torch.Tensor, storage: torch.UntypedStorage, offset: int | None = None
) -> torch.Tensor:
    """Returns a tensor with the layout of `tensor` in another storage."""
    place = tensor.storage_offset() if offset is None else offset
    return torch.empty(0, dtype=tensor.dtype, device=tensor.device).set_(  # type: ignore[call-overload, no-any-return]
        storage, place, tuple(tensor.shape), tuple(tensor.stride())
    )


def settle(*storages: torch.UntypedStorage | None) -> None:
    """Waits until the GPU is idle: another stream may still write to a part of the storages. While
    operations are captured for a graph, nothing runs, and the graph repeats this module's work."""
    for device in {one.device for one in storages if one is not None}:
        if device.type == "cuda" and not torch.cuda.is_current_stream_capturing():
            torch.cuda.synchronize(device)


def digest(storage: torch.UntypedStorage) -> int:
    """Returns a number that changes if one word of the memory does, and nearly always if more do."""
    memory = bytes_of(storage)
    whole = memory.numel() - memory.numel() % _DIGEST_BYTES
    words, total = memory[:whole].view(torch.int64), torch.zeros((), dtype=torch.int64)
    total = total.to(storage.device)
    for at in range(0, words.numel(), PART_ELEMENTS):
        part = words[at : at + PART_ELEMENTS]
        place = torch.arange(at, at + part.numel(), device=storage.device)
        total += (part * (2 * (place * _DIGEST_STEP + _DIGEST_START) + 1)).sum()
    for byte in memory[whole:].tolist():
        total = total * 257 + byte
    return int(total)


def is_captured(storage: torch.UntypedStorage) -> bool:
    return storage.device.type == "cuda" and torch.cuda.is_current_stream_capturing()


def copy_of(storage: torch.UntypedStorage) -> torch.UntypedStorage:
    """Returns a copy that a kernel can use if it can use the storage: a GPU reads only such memory of
    the CPU as is pinned."""
    made = storage.clone()
    return made.pin_memory() if storage.device.type == "cpu" and storage.is_pinned() else made


def enlarged(before: torch.UntypedStorage, storage: torch.UntypedStorage) -> torch.UntypedStorage:
    made = copy_of(storage)
    bytes_of(made)[: before.nbytes()] = bytes_of(before)
    return made


def take_over(
    memory: torch.Tensor, seen: torch.Tensor, shadow: torch.Tensor, item_bytes: int
) -> None:
    """Copies to `shadow` what something has written to `memory` since `seen` was equal to it, and
    all of `memory` to `seen`. It copies the same to both, whatever writes meanwhile. A write may
    leave an element, or bytes of it, as they were. So all elements count as written from the first
    one that differs to the last one. Nothing here waits for the GPU, because a graph may be
    captured."""
    size = min(one.numel() for one in (memory, seen, shadow))
    whole = size - size % item_bytes
    if whole:
        word = _WORDS.get(item_bytes, torch.uint8)  # to compare and copy fewer items
        columns = item_bytes // word.itemsize
        _take_over(*(one[:whole].view(word).view(-1, columns) for one in (memory, seen, shadow)))
    if whole < size:  # no element has its place there
        _take_over(*(one[whole:size].view(-1, 1) for one in (memory, seen, shadow)))


def _take_over(memory: torch.Tensor, seen: torch.Tensor, shadow: torch.Tensor) -> None:
    """Does it for matrices in which each row is an element."""
    count, device = memory.shape[0], memory.device
    first = torch.full((), count, device=device)
    last = torch.full((), -1, device=device)
    parts = [slice(at, min(at + PART_ELEMENTS, count)) for at in range(0, count, PART_ELEMENTS)]
    for part in parts:
        now = memory[part].clone()  # something may write to the memory at this moment
        same = (now == seen[part]).all(1)
        seen[part] = now
        at = torch.arange(part.start, part.stop, device=device)
        first = torch.minimum(first, at.masked_fill(same, count).min())
        last = torch.maximum(last, at.masked_fill(same, -1).max())
    for part in parts:
        at = torch.arange(part.start, part.stop, device=device)
        written = ((at >= first) & (at <= last)).unsqueeze(1)
        shadow[part] = torch.where(written, seen[part], shadow[part])

"""Stores tensors in memory files (memfds), and describes them in messages
(docs/reference/frames.md). A descriptor is the JSON object that describes one tensor. A view of a
descriptor's tensor never reaches outside of the memory file.

    fd = make_memfd("inputs", [tensor])  # sealed against writing
    with MappedFile(fd, writable=False) as memory:
        x = memory.tensor(descriptor)  # checks dtype, shape, strides and range

Descriptors come from untrusted processes. So `MappedFile.tensor` checks every field, and raises
DescriptorError with a precise message. Not thread-safe."""

from __future__ import annotations

import fcntl
import math
import mmap
import os
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from typing_extensions import Self

DTYPES: dict[str, torch.dtype] = {
    "float64": torch.float64,
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float8_e4m3fn": torch.float8_e4m3fn,
    "float8_e5m2": torch.float8_e5m2,
    "int64": torch.int64,
    "int32": torch.int32,
    "int16": torch.int16,
    "int8": torch.int8,
    "uint8": torch.uint8,
    "uint32": torch.uint32,
    "bool": torch.bool,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
ALIGNMENT = 256
MAX_RANK = 8
F_ADD_SEALS, F_GET_SEALS = 1033, 1034
F_SEAL_SHRINK = 0x2
SEALS = 0x1 | 0x2 | 0x4 | 0x8  # F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW and F_SEAL_WRITE


class DescriptorError(Exception):
    """The descriptor does not describe a tensor inside its memory."""


def dtype_from(name: object) -> torch.dtype:
    if not isinstance(name, str) or name not in DTYPES:
        raise DescriptorError(f"dtype {name!r} is none of {', '.join(DTYPES)}")
    return DTYPES[name]


def name_of(dtype: torch.dtype) -> str:
    """Returns the name that messages use for a torch dtype. A dtype without such a name keeps
    torch's own name."""
    return NAMES.get(dtype, str(dtype).removeprefix("torch."))


def aligned(size: int) -> int:
    return (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def span_bytes(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> int:
    """Returns the number of bytes from the first element of a strided view to the end of the last
    element. Returns 0 for an empty view."""
    if any(extent == 0 for extent in shape):
        return 0
    return (
        sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)) + 1
    ) * itemsize


def descriptor(name: str, tensor: torch.Tensor, offset: int) -> dict[str, Any]:
    """Returns the descriptor of a tensor whose first byte is at `offset`, in the form that messages
    use."""
    shape, strides = list(tensor.shape), list(tensor.stride())
    return {
        "name": name,
        "kind": "tensor",
        "dtype": name_of(tensor.dtype),
        "shape": shape,
        "strides": strides,
        "offset": offset,
        "nbytes": span_bytes(shape, strides, tensor.element_size()),
    }


def bits(values: torch.Tensor) -> torch.Tensor:
    """Returns the elements in index order, as integers of the same size. As integers, NaNs with the
    same bits are equal, and 0.0 and -0.0 differ."""
    return values.contiguous().reshape(-1).view(WORDS[values.element_size()])


def span_view(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the bytes that a tensor spans, as a flat uint8 view of its storage."""
    nbytes = span_bytes(tensor.shape, tensor.stride(), tensor.element_size())
    whole = torch.empty(0, dtype=torch.uint8, device=tensor.device)
    return whole.set_(
        tensor.untyped_storage(), tensor.storage_offset() * tensor.element_size(), (nbytes,), (1,)
    )  # type: ignore[call-overload, no-any-return]


def create_memfd(name: str, size: int) -> int:
    fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, max(size, 1))
    return fd


def seal(fd: int) -> None:
    """Forbids writing and resizing for ever, through any descriptor of the file. The call fails if
    a writable mapping of the file exists."""
    fcntl.fcntl(fd, F_ADD_SEALS, SEALS)


class Memory:
    """Memory that contains tensors at offsets that another process chose. Tensors that refer to
    this memory are valid until `close`."""

    def __init__(self, flat: torch.Tensor) -> None:
        self.size = flat.numel()
        self._bytes: torch.Tensor | None = flat

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._bytes = None

    def bytes(self, offset: int, size: int) -> torch.Tensor:
        """Returns a flat uint8 view of a range, after checking the range."""
        if self._bytes is None:
            raise ValueError("the memory is closed")
        if offset < 0 or size < 0 or offset + size > self.size:
            raise DescriptorError(
                f"bytes {offset} to {offset + size} are outside the memory of {self.size} bytes"
            )
        return self._bytes[offset : offset + size]

    def tensor(self, wire: dict[str, Any]) -> torch.Tensor:
        """Returns the view that a descriptor describes. Raises DescriptorError unless the view is
        inside this memory."""
        dtype = dtype_from(wire.get("dtype"))
        shape, strides, offset = wire.get("shape"), wire.get("strides"), wire.get("offset")
        legal = _extents(shape) and _extents(strides)
        if not legal or len(shape) != len(strides) or len(shape) > MAX_RANK:  # type: ignore[arg-type]
            raise DescriptorError(
                f"shape {shape!r} with strides {strides!r}: want two lists of at most {MAX_RANK} numbers from 0 up"
            )
        if not isinstance(offset, int) or isinstance(offset, bool) or offset < 0:
            raise DescriptorError(f"offset {offset!r}: want a number from 0 up")
        itemsize = dtype.itemsize
        if itemsize * math.prod(max(extent, 1) for extent in shape) >= 2**63:  # type: ignore[union-attr]
            raise DescriptorError(f"shape {shape!r} has more bytes than can be counted")
        if offset % itemsize:
            raise DescriptorError(
                f"offset {offset} is not a multiple of the {itemsize} bytes of a {wire['dtype']}"
            )
        flat = self.bytes(offset, span_bytes(shape, strides, itemsize))  # type: ignore[arg-type]
        return torch.as_strided(flat.view(dtype), shape, strides)  # type: ignore[arg-type]


class MappedFile(Memory):
    """A memfd, mapped into this process."""

    def __init__(self, fd: int, writable: bool, limit: int | None = None) -> None:
        actual = os.fstat(fd).st_size
        size = actual if limit is None else min(limit, actual)
        # A private mapping suffices for reading. It is mapped as writable because torch requires
        # this. A write to it never changes the file.
        flags = mmap.MAP_SHARED if writable else mmap.MAP_PRIVATE
        self._map = mmap.mmap(fd, max(size, 1), flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        super().__init__(torch.frombuffer(self._map, dtype=torch.uint8)[:size])

    @classmethod
    def snapshot(cls, fd: int) -> MappedFile:
        """Opens a memfd for reading. An untrusted process has written the memfd, and has ended or
        finished writing. If the memfd is sealed against shrinking, the memfd itself is mapped.
        Otherwise its bytes are copied, because the process could truncate the file while it is
        read."""
        size = os.fstat(fd).st_size
        if fcntl.fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK:
            return cls(fd, writable=False)
        copy = create_memfd("assay-snapshot", size)
        try:
            at = 0
            while at < size:
                moved = os.sendfile(copy, fd, at, size - at)
                if moved == 0:
                    break  # the file was truncated: the missing bytes read as zero
                at += moved
            return cls(copy, writable=False)
        finally:
            os.close(copy)

    def close(self) -> None:
        super().close()
        try:
            self._map.close()
        except BufferError:
            pass  # a view still exists; the mapping ends with the last view


def _extents(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(x, int) and not isinstance(x, bool) and 0 <= x < 2**40 for x in value
    )


def pack(tensors: Sequence[tuple[str, torch.Tensor]]) -> tuple[list[dict[str, Any]], int]:
    """Returns the descriptors of tensors that are stored one after the other, and the total
    size."""
    offset, wires = 0, []
    for name, tensor in tensors:
        wires.append(descriptor(name, tensor, offset))
        offset = aligned(offset + wires[-1]["nbytes"])
    return wires, offset


def make_memfd(
    name: str, tensors: Sequence[tuple[str, torch.Tensor]]
) -> tuple[int, list[dict[str, Any]]]:
    """Returns a sealed memfd that contains the tensors, and the tensors' descriptors."""
    wires, size = pack(tensors)
    fd = create_memfd(name, size)
    for (_, tensor), wire in zip(tensors, wires, strict=True):
        _write(fd, memoryview(_on_host(span_view(tensor)).numpy()), wire["offset"])
    seal(fd)
    return fd, wires


# Pinned memory for copies from the GPU. Copies into pinned memory run at the full speed of the bus.
# The memory is kept and reused, because pinning takes time.
_staging: list[torch.Tensor] = []


def _on_host(data: torch.Tensor) -> torch.Tensor:
    """Returns the bytes in host memory. The bytes of a GPU tensor are copied into a buffer that is
    valid only until the next call."""
    if not data.is_cuda:
        return data.cpu()
    if not _staging or _staging[0].numel() < data.numel():
        _staging[:] = [torch.empty(data.numel(), dtype=torch.uint8, pin_memory=True)]
    return _staging[0][: data.numel()].copy_(data)


def _write(fd: int, data: memoryview, offset: int) -> None:
    while data:
        written = os.pwrite(fd, data, offset)
        data, offset = data[written:], offset + written


def contiguous(wire: dict[str, Any], offset: int) -> dict[str, Any]:
    """Returns the descriptor of a contiguous tensor at `offset`, with the dtype and the shape in
    `wire`. An output that the entry function returns is copied into this tensor."""
    strides: list[int] = []
    step = 1
    for extent in reversed(wire["shape"]):
        strides.insert(0, step)
        step *= max(extent, 1)
    return {"dtype": wire["dtype"], "shape": wire["shape"], "strides": strides, "offset": offset}

"""Reads the metadata of AMD's code objects (hsaco): the arguments, the memory and the registers of
each kernel. The compiler writes the metadata as a MessagePack document into an ELF note
(https://llvm.org/docs/AMDGPUUsage.html#code-object-v5-metadata).

    kernel = read_code_object(image).kernel("add")
    kernel.lds_bytes, kernel.wave_size, [a.offset for a in kernel.arguments]

If an image has no such note, or if the note is broken, ValueError is raised. The functions are
pure. They never read beyond the image."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from harness.entry.errors import UnsupportedHere

_NOTE_SEGMENT, _METADATA_NOTE = 4, 32
_PROGRAM_HEADER_BYTES = 56
_MACHINE_AMDGPU = 224
_HIDDEN = "hidden_"  # arguments that the runtime adds behind those of the caller
# Arguments by which the runtime lets a kernel call the host, or keep memory. The launcher refuses a
# binary that has them (sandbox/launcher/plan/hsaco_metadata.cc).
_OF_HOST = frozenset(
    {"hidden_hostcall_buffer", "hidden_printf_buffer", "hidden_heap_v1"}
    | {"hidden_default_queue", "hidden_completion_action"}
)
_MAX_DEPTH = 16  # of the MessagePack document
_FIRST_FIXED_TEXT, _FIRST_FIXED_LIST, _FIRST_FIXED_MAP, _FIRST_NEGATIVE = 0xA0, 0x90, 0x80, 0xE0
_NUMBERS = {
    **{0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q"},
    **{0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q", 0xCA: ">f", 0xCB: ">d"},
}
_TEXTS = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}
_BYTES = {0xC4: ">B", 0xC5: ">H", 0xC6: ">I"}
_LISTS, _MAPS = {0xDC: ">H", 0xDD: ">I"}, {0xDE: ">H", 0xDF: ">I"}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}


@dataclass(frozen=True)
class KernelArgument:
    offset: int  # in the block of arguments, in bytes
    size: int
    kind: str  # "by_value", "global_buffer", ...


@dataclass(frozen=True)
class KernelMetadata:
    name: str
    arguments: tuple[KernelArgument, ...]  # without those that the runtime adds
    hidden: tuple[KernelArgument, ...]  # those that the runtime adds
    argument_bytes: int  # the size of the whole block of arguments
    lds_bytes: int  # static, per block
    scratch_bytes: int  # per thread: spills and stack
    wave_size: int
    vector_registers: int  # per thread; on CDNA the accumulation registers are among them
    accumulation_registers: int
    scalar_registers: int  # per wave
    vector_spills: int
    scalar_spills: int
    max_threads: int  # per block

    @property
    def calls_host(self) -> bool:
        """True if the kernel may call functions of the host: it has printf, assert or malloc."""
        return any(one.kind in _OF_HOST for one in self.hidden)


@dataclass(frozen=True)
class CodeObject:
    target: str  # "hip:gfx942"
    kernels: tuple[KernelMetadata, ...]

    def kernel(self, name: str) -> KernelMetadata:
        for kernel in self.kernels:
            if kernel.name == name:
                return kernel
        names = ", ".join(kernel.name for kernel in self.kernels) or "none"
        raise ValueError(f"the code object has no kernel {name}; it has: {names}")

    def check_calls(self) -> None:
        """Raises UnsupportedHere if a kernel may call the host."""
        for kernel in self.kernels:
            if kernel.calls_host:
                raise UnsupportedHere(
                    f"kernel '{kernel.name}' calls the host, which Assay does not let kernels do on "
                    "an AMD GPU: leave out printf, assert and malloc (tl.device_print, "
                    "tl.device_assert)"
                )


def read_code_object(image: bytes) -> CodeObject:
    """Returns the metadata of all kernels in an image. Raises ValueError."""
    try:
        document = _Reader(_note(image)).value()
        return _code_object(document)
    except (struct.error, IndexError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the metadata of the code object is broken: {error!r}") from error


def packed_offsets(sizes: list[int]) -> list[int]:
    """Returns the offsets at which the launcher packs arguments of these sizes: each argument lies
    at a multiple of its own size."""
    offsets, end = [], 0
    for size in sizes:
        end = -(-end // size) * size
        offsets.append(end)
        end += size
    return offsets


def _note(image: bytes) -> bytes:
    """Returns the MessagePack document of the note NT_AMDGPU_METADATA."""
    if image[:6] != b"\x7fELF\x02\x01":
        raise ValueError("the device binary is not a 64-bit little-endian ELF file")
    (machine,) = struct.unpack_from("<H", image, 0x12)
    if machine != _MACHINE_AMDGPU:
        raise ValueError(f"the device binary is for the ELF machine {machine}, not for AMD's GPUs")
    (table,) = struct.unpack_from("<Q", image, 0x20)
    entry_bytes, count = struct.unpack_from("<2H", image, 0x36)
    if entry_bytes != _PROGRAM_HEADER_BYTES:
        raise ValueError(f"the device binary has program headers of {entry_bytes} bytes")
    for index in range(count):
        kind, _, offset, _, _, size = struct.unpack_from(
            "<2I4Q", image, table + index * entry_bytes
        )
        if kind != _NOTE_SEGMENT:
            continue
        at, end = offset, min(offset + size, len(image))
        while at + 12 <= end:
            name_bytes, bytes_, note = struct.unpack_from("<3I", image, at)
            name = image[at + 12 : at + 12 + name_bytes].rstrip(b"\0")
            at += 12 + -(-name_bytes // 4) * 4
            if name == b"AMDGPU" and note == _METADATA_NOTE:
                return image[at : min(at + bytes_, end)]
            at += -(-bytes_ // 4) * 4
    raise ValueError("the device binary has no AMDGPU metadata")


class _Reader:
    """Reads one MessagePack document."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def value(self, depth: int = 0) -> Any:
        if depth > _MAX_DEPTH:
            raise ValueError(f"the metadata of the code object is deeper than {_MAX_DEPTH}")
        first = self._take(1)[0]
        if first < _FIRST_FIXED_MAP:
            return first
        if first >= _FIRST_NEGATIVE:
            return first - 0x100
        if first in _CONSTANTS:
            return _CONSTANTS[first]
        if first in _NUMBERS:
            return self._number(_NUMBERS[first])
        if _FIRST_FIXED_TEXT <= first < 0xC0:
            return self._take(first - _FIRST_FIXED_TEXT).decode("utf-8", "replace")
        if first in _TEXTS:
            return self._take(self._number(_TEXTS[first])).decode("utf-8", "replace")
        if first in _BYTES:
            return self._take(self._number(_BYTES[first]))
        if _FIRST_FIXED_LIST <= first < _FIRST_FIXED_TEXT or first in _LISTS:
            many = first & 0xF if first < _FIRST_FIXED_TEXT else self._number(_LISTS[first])
            return [self.value(depth + 1) for _ in range(many)]
        if first < _FIRST_FIXED_LIST or first in _MAPS:
            many = first & 0xF if first < _FIRST_FIXED_LIST else self._number(_MAPS[first])
            return {self.value(depth + 1): self.value(depth + 1) for _ in range(many)}
        raise ValueError(f"the metadata of the code object has the unknown type {first:#x}")

    def _take(self, size: int) -> bytes:
        if size > len(self._data) - self._at:
            raise ValueError("the metadata of the code object ends early")
        self._at += size
        return self._data[self._at - size : self._at]

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]


def _code_object(document: dict[str, Any]) -> CodeObject:
    target = str(document.get("amdhsa.target", ""))
    # A target is "amdgcn-amd-amdhsa--gfx90a:xnack-". The features after the colon are left out.
    architecture = target.rpartition("-")[2] if ":" not in target else ""
    if not architecture:
        architecture = target.partition(":")[0].rpartition("-")[2]
    return CodeObject(
        f"hip:{architecture}", tuple(_kernel(one) for one in document["amdhsa.kernels"])
    )


def _kernel(described: dict[str, Any]) -> KernelMetadata:
    arguments = [
        KernelArgument(int(one[".offset"]), int(one[".size"]), str(one[".value_kind"]))
        for one in described.get(".args", [])
    ]
    return KernelMetadata(
        name=str(described[".name"]),
        arguments=tuple(one for one in arguments if not one.kind.startswith(_HIDDEN)),
        hidden=tuple(one for one in arguments if one.kind.startswith(_HIDDEN)),
        argument_bytes=int(described[".kernarg_segment_size"]),
        lds_bytes=int(described[".group_segment_fixed_size"]),
        scratch_bytes=int(described[".private_segment_fixed_size"]),
        wave_size=int(described[".wavefront_size"]),
        vector_registers=int(described[".vgpr_count"]),
        accumulation_registers=int(described.get(".agpr_count", 0)),
        scalar_registers=int(described[".sgpr_count"]),
        vector_spills=int(described.get(".vgpr_spill_count", 0)),
        scalar_spills=int(described.get(".sgpr_spill_count", 0)),
        max_threads=int(described[".max_flat_workgroup_size"]),
    )

"""Reads the number of registers and the size of the spills of a compiled kernel from its binary.

    figures = read_resources("cuda:90", cubin, "")  # Resources(registers=32, spill_bytes=0)

For NVIDIA, the module reads the attributes that ptxas writes into the cubin's `.nv.info` sections.
`spill_bytes` is the kernel's local memory per thread (its stack frame), which the driver reports as
the local size. For AMD, the module reads the metadata at the end of the assembly text. If a binary
lacks these figures, ValueError is raised, because a wrong figure would be worse than none. All
functions are pure."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import NamedTuple

_REGCOUNT, _FRAME_SIZE, _MIN_STACK_SIZE = 0x2F, 0x11, 0x12
_SYMBOL_BYTES = 24
# The size of the shared memory that the system reserves in each block. From compute capability 9.0
# on, the size in a cubin includes the reserved memory if the kernel uses shared memory.
_RESERVED_SHARED_BYTES, _FIRST_WITH_RESERVE = 1024, 90
_FORMAT_NONE, _FORMAT_BYTE, _FORMAT_HALF, _FORMAT_SIZED = 1, 2, 3, 4


@dataclass(frozen=True)
class Resources:
    registers: int  # per thread
    spill_bytes: int  # per thread


def read_resources(target: str, image: bytes, assembly: str, kernel: str = "") -> Resources:
    """Returns the resources of a kernel in a binary for `target`. If `kernel` is empty, the binary
    must contain exactly one kernel. Raises ValueError."""
    if target.startswith("cuda:"):
        return _cubin(image, kernel)
    return _amdgcn(assembly)


def static_shared_bytes(target: str, image: bytes, kernel: str) -> int:
    """Returns how many bytes of static shared memory per block the kernel declares. Raises
    ValueError."""
    name = f".nv.shared.{kernel}"
    size = sum(header.size for header in _headers(image) if header.name == name)
    return (
        max(size - _RESERVED_SHARED_BYTES, 0)
        if int(target.partition(":")[2]) >= _FIRST_WITH_RESERVE
        else size
    )


class _Header(NamedTuple):
    name: str
    offset: int
    size: int


def _sections(image: bytes) -> dict[str, bytes]:
    return {
        header.name: image[header.offset : header.offset + header.size]
        for header in _headers(image)
    }


def _headers(image: bytes) -> list[_Header]:
    if image[:6] != b"\x7fELF\x02\x01":
        raise ValueError("the device binary is not a 64-bit little-endian ELF file")
    try:
        table, entry_size, count, names_index = (
            struct.unpack_from("<Q", image, 0x28)[0],
            *struct.unpack_from("<3H", image, 0x3A),
        )
        headers = [
            struct.unpack_from("<IIQQQQ", image, table + i * entry_size) for i in range(count)
        ]
        names = image[headers[names_index][4] :]
        return [
            _Header(_text_at(names, name), offset, size) for name, _, _, _, offset, size in headers
        ]
    except (struct.error, IndexError) as error:
        raise ValueError(f"the device binary's section table is broken: {error}") from error


def _text_at(names: bytes, start: int) -> str:
    return names[start : names.index(b"\0", start)].decode("ascii", "replace")


def _symbol(sections: dict[str, bytes], kernel: str) -> int:
    """Returns a kernel's index in the symbol table. The attributes in `.nv.info` refer to kernels
    by this index."""
    table, names = sections.get(".symtab", b""), sections.get(".strtab", b"")
    for index in range(len(table) // _SYMBOL_BYTES):
        if _text_at(names, struct.unpack_from("<I", table, index * _SYMBOL_BYTES)[0]) == kernel:
            return index
    raise ValueError(f"the cubin has no kernel {kernel}")


def _attributes(section: bytes) -> list[tuple[int, bytes]]:
    found, at = [], 0
    while at + 4 <= len(section):
        form, kind = section[at], section[at + 1]
        value = section[at + 2 : at + 4]
        at += 4
        if form == _FORMAT_SIZED:
            size = int.from_bytes(value, "little")
            value = section[at : at + size]
            at += size
        elif form not in (_FORMAT_NONE, _FORMAT_BYTE, _FORMAT_HALF):
            break
        found.append((kind, value))
    return found


def _cubin(image: bytes, kernel: str) -> Resources:
    registers, frame = 0, 0
    sections = _sections(image)
    wanted = _symbol(sections, kernel) if kernel else None
    for kind, value in _attributes(sections.get(".nv.info", b"")):
        if len(value) != 8:
            continue
        symbol, amount = struct.unpack("<II", value)
        if wanted is not None and symbol != wanted:
            continue
        if kind == _REGCOUNT:
            registers = max(registers, amount)
        elif kind in (_FRAME_SIZE, _MIN_STACK_SIZE):
            frame = max(frame, amount)
    if registers == 0:
        raise ValueError("the cubin has no register count")
    return Resources(registers, frame)


def _amdgcn(assembly: str) -> Resources:
    def figure(key: str) -> int | None:
        match = re.search(rf"^\s*\.{key}:\s*(\d+)", assembly, re.MULTILINE)
        return int(match.group(1)) if match else None

    vector, spills = figure("vgpr_count"), figure("vgpr_spill_count")
    if vector is None or spills is None:
        raise ValueError("the AMD assembly has no register figures")
    return Resources(vector, 4 * spills)

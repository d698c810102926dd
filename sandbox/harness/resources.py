"""Registers, spills and stack of a compiled kernel, read from the binary itself.

    figures = read_resources("cuda:90", cubin, "")      # Resources(registers=32, spill_bytes=0)

NVIDIA: the attributes that ptxas wrote into the cubin's `.nv.info` sections. `spill_bytes` is the kernel's local memory per
thread (stack frame), what the driver reports as its local size. AMD: the metadata at the end of the assembly text. A binary
without these attributes raises ValueError: a made-up figure would be worse than none. Pure functions.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

_REGCOUNT, _FRAME_SIZE, _MIN_STACK_SIZE = 0x2F, 0x11, 0x12
_FORMAT_NONE, _FORMAT_BYTE, _FORMAT_HALF, _FORMAT_SIZED = 1, 2, 3, 4


@dataclass(frozen=True)
class Resources:
    registers: int  # per thread
    spill_bytes: int  # per thread


def read_resources(target: str, image: bytes, assembly: str) -> Resources:
    """Figures of the only kernel in a binary for `target`. Raises ValueError."""
    if target.startswith("cuda:"):
        return _cubin(image)
    return _amdgcn(assembly)


def _sections(image: bytes) -> dict[str, bytes]:
    if image[:6] != b"\x7fELF\x02\x01":
        raise ValueError("the device binary is no 64-bit little-endian ELF file")
    try:
        table, entry_size, count, names_index = struct.unpack_from("<Q", image, 0x28)[0], *struct.unpack_from("<3H", image, 0x3A)
        headers = [struct.unpack_from("<IIQQQQ", image, table + i * entry_size) for i in range(count)]
        names = image[headers[names_index][4] :]
        found = {}
        for name, _, _, _, offset, size in headers:
            end = names.index(b"\0", name)
            found[names[name:end].decode("ascii", "replace")] = image[offset : offset + size]
        return found
    except (struct.error, IndexError) as error:
        raise ValueError(f"the device binary's section table is broken: {error}") from error


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


def _cubin(image: bytes) -> Resources:
    registers, frame = 0, 0
    for kind, value in _attributes(_sections(image).get(".nv.info", b"")):
        if len(value) != 8:
            continue
        amount = struct.unpack("<II", value)[1]
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

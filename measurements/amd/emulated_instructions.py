"""Executes instructions that tinygrad's emulator lacks or executes otherwise than AMD's documents say
("CDNA3 Instruction Set Architecture"):

- MUBUF loads and stores of all sizes. The emulator loads and stores whole aligned words, so a store
  of 16 bits overwrites its neighbour.
- MUBUF instructions that write caches back or empty them. They have no effect here.
- MUBUF atomic operations on 32 bits, which the emulator executes as loads.
- global_atomic operations on 32 and 64 bits. The emulator reads and writes the addresses of lanes
  that are switched off too, so it may end with a fault.
- Other instructions on the LDS. The emulator reads the addresses of lanes that are switched off too,
  so it may end with a fault. Here these lanes have the address 0 during the instruction.
- Loads and stores of scratch memory, where spilled registers lie. In the emulator, all waves of a
  block share this memory.
- ds_swizzle_b32, which the emulator does not compile.
- ds_permute_b32 and ds_bpermute_b32. The lane is the address divided by 4, modulo 64. The emulator
  leaves out the modulo, so an address that a block's thread number makes names no lane.
- v_permlane16_swap and v_permlane32_swap of CDNA 4, which the emulator does not compile.
- s_setreg of the bit FP16_OVFL, which the emulator does not compile. The bit makes conversions
  saturate. Here it is ignored, so a conversion that overflows has another result.

    install(emulator)  # replaces the emulator's decoder by one that knows these instructions"""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Callable
from typing import Any

LANES = 64
SCALARS, VECTORS, ACCUMULATORS = 0, 1, 5  # the emulator's numbers for the register files
EXEC = 126
MODE_REGISTER, FP16_OVFL = 1, 23
LOAD = re.compile(r"BUFFER_LOAD_(UBYTE|SBYTE|USHORT|SSHORT|SHORT|DWORD)(X[234])?(_D16)?(_HI)?$")
STORE = re.compile(r"BUFFER_STORE_(BYTE|SHORT|DWORD)(X[234])?(_D16)?(_HI)?$")
ATOMIC = re.compile(r"BUFFER_ATOMIC_(\w+)$")
GLOBAL_ATOMIC = re.compile(r"GLOBAL_ATOMIC_(\w+?)(_X2)?$")
SCRATCH = re.compile(r"SCRATCH_(LOAD|STORE)_DWORD(?:X([234]))?$")
SCRATCH_BYTES = 1 << 16  # the most memory of a lane
NO_SCALAR_ADDRESS = 0x7F
SIZES = {"UBYTE": 1, "SBYTE": 1, "BYTE": 1, "USHORT": 2, "SSHORT": 2, "SHORT": 2, "DWORD": 4}


def _signed(value: int, bits: int = 32) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def _add_floats(old: int, new: int) -> int:
    import numpy

    pair = numpy.array([old, new], numpy.uint32).view(numpy.float32)
    return int(numpy.array([pair[0] + pair[1]], numpy.float32).view(numpy.uint32)[0])


ATOMICS: dict[str, Callable[[int, int], int]] = {
    "SWAP": lambda old, new: new,
    "ADD": lambda old, new: old + new,
    "SUB": lambda old, new: old - new,
    "SMIN": lambda old, new: min(old, new, key=_signed),
    "SMAX": lambda old, new: max(old, new, key=_signed),
    "UMIN": min,
    "UMAX": max,
    "AND": lambda old, new: old & new,
    "OR": lambda old, new: old | new,
    "XOR": lambda old, new: old ^ new,
    "ADD_F32": _add_floats,
}


class Files:
    """The registers of a wave, as arrays of 32-bit numbers."""

    def __init__(self, scalars: Any, vectors: Any, accumulators: Any) -> None:
        pointer = ctypes.POINTER(ctypes.c_uint32)
        self.number = vectors.value  # no other wave has it
        self.scalars = ctypes.cast(scalars.value, pointer)
        self.vectors = ctypes.cast(vectors.value, pointer)
        self.accumulators = ctypes.cast(accumulators.value, pointer)

    def active(self) -> list[int]:
        mask = self.scalars[EXEC] | self.scalars[EXEC + 1] << 32
        return [lane for lane in range(LANES) if mask >> lane & 1]


def program(emulator: Any, size: int, run: Callable[[Files], None]) -> Any:
    """Returns what the emulator's decoder returns for an instruction of `size` bytes."""

    class Program:
        class arg:
            globals = [SCALARS, VECTORS, ACCUMULATORS]

    class Runtime:
        @staticmethod
        def fxn(scalars: Any, vectors: Any, accumulators: Any) -> None:
            files = Files(scalars, vectors, accumulators)
            run(files)
            low, high = emulator.PC_LO_IDX, emulator.PC_HI_IDX
            at = (files.scalars[low] | files.scalars[high] << 32) + size
            files.scalars[low], files.scalars[high] = at & 0xFFFFFFFF, at >> 32

    return Program, Runtime


class Buffer:
    """A load, store or atomic operation of the class MUBUF."""

    def __init__(self, words: tuple[int, int], name: str) -> None:
        first, second = words
        load, store, atomic = LOAD.match(name), STORE.match(name), ATOMIC.match(name)
        self._atomic = ATOMICS.get(atomic[1]) if atomic else None
        found = load or store
        if found is None and self._atomic is None:
            raise RuntimeError(f"{name.lower()} is not executed")
        self._stores = store is not None
        self._size, self._count, self._signed, self._half, self._high = 4, 1, False, False, False
        self._returns = bool(first >> 14 & 1)
        if found is not None:
            self._size = SIZES[found[1]]
            self._count = int(found[2][1]) if found[2] else 1
            self._signed = found[1] in ("SBYTE", "SSHORT")
            # A D16 load writes one half of the register, and keeps the other half.
            self._half, self._high = bool(found[3]) or found[1] == "SHORT", bool(found[4])
        self._offset, self._offen, self._idxen = first & 0xFFF, first >> 12 & 1, first >> 13 & 1
        if first >> 16 & 1:
            raise RuntimeError(f"{name.lower()} to the LDS is not executed")
        self._address, self._data = second & 0xFF, second >> 8 & 0xFF
        self._resource, self._scalar_offset = (second >> 16 & 0x1F) * 4, second >> 24
        self._accumulates = second >> 23 & 1

    def run(self, files: Files) -> None:
        scalars, vectors = files.scalars, files.vectors
        low, high = scalars[self._resource], scalars[self._resource + 1]
        base, stride = low | (high & 0xFFFF) << 32, high >> 16 & 0x3FFF
        scalar = scalars[self._scalar_offset]
        records = scalars[self._resource + 2]
        data = files.accumulators if self._accumulates else vectors
        for lane in files.active():
            at = self._offset
            if self._idxen:
                at += stride * vectors[self._address * LANES + lane]
            if self._offen:
                at += vectors[(self._address + self._idxen) * LANES + lane]
            at &= 0xFFFFFFFF
            for number in range(self._count):
                inside = at + number * self._size < records - scalar
                register = (self._data + number) * LANES + lane
                address = base + scalar + at + number * self._size
                if self._atomic is not None:
                    old = int.from_bytes(ctypes.string_at(address, 4), "little") if inside else 0
                    if inside:
                        new = self._atomic(old, data[register]) & 0xFFFFFFFF
                        ctypes.memmove(address, new.to_bytes(4, "little"), 4)
                    if self._returns:
                        data[register] = old
                elif self._stores:
                    value = data[register] >> (16 if self._high else 0)
                    if inside:
                        raw = (value & (1 << 8 * self._size) - 1).to_bytes(self._size, "little")
                        ctypes.memmove(address, raw, self._size)
                else:
                    raw = ctypes.string_at(address, self._size) if inside else bytes(self._size)
                    data[register] = self._loaded(data[register], raw)

    def _loaded(self, old: int, raw: bytes) -> int:
        value = int.from_bytes(raw, "little", signed=self._signed)
        if not self._half:
            return value & 0xFFFFFFFF
        value &= 0xFFFF
        return (old & 0xFFFF) | value << 16 if self._high else (old & 0xFFFF0000) | value


def global_atomic(words: tuple[int, int], name: str) -> Callable[[Files], None]:
    """Returns the effect of an atomic operation on memory, on 32 or 64 bits."""
    first, second = words
    known = GLOBAL_ATOMIC.match(name)
    operation = ATOMICS.get(known[1]) if known else None
    size = 8 if known and known[2] else 4
    if operation is None or (size == 8 and name.startswith("GLOBAL_ATOMIC_SM")):
        raise RuntimeError(f"{name.lower()} is not executed")
    offset, returns = _signed(first & 0x1FFF, 13), first >> 16 & 1
    address, data, scalar = second & 0xFF, second >> 8 & 0xFF, second >> 16 & 0x7F
    accumulates, target = second >> 23 & 1, second >> 24

    def run(files: Files) -> None:
        registers = files.accumulators if accumulates else files.vectors

        def pair(file: Any, register: int, lane: int) -> int:
            high = file[(register + 1) * LANES + lane] if size == 8 else 0
            return int(file[register * LANES + lane] | high << 32)

        for lane in files.active():
            at = int(files.vectors[address * LANES + lane])
            if scalar == NO_SCALAR_ADDRESS:
                at |= files.vectors[(address + 1) * LANES + lane] << 32
            else:
                at += files.scalars[scalar] | files.scalars[scalar + 1] << 32
            at += offset
            old = int.from_bytes(ctypes.string_at(at, size), "little")
            new = operation(old, pair(registers, data, lane)) & ((1 << 8 * size) - 1)
            ctypes.memmove(at, new.to_bytes(size, "little"), size)
            if returns:
                for number in range(size // 4):
                    registers[(target + number) * LANES + lane] = old >> 32 * number & 0xFFFFFFFF

    return run


class Scratch:
    """The scratch memory of all waves. A wave is known by its vector registers."""

    def __init__(self) -> None:
        self._waves: dict[int, list[bytearray]] = {}

    def instruction(self, words: tuple[int, int], name: str) -> Callable[[Files], None]:
        first, second = words
        known = SCRATCH.match(name)
        if known is None:
            raise RuntimeError(f"{name.lower()} is not executed")
        loads, count = known[1] == "LOAD", int(known[2] or 1)
        offset, has_address = _signed(first & 0x1FFF, 13), first >> 13 & 1
        address, data, scalar = second & 0xFF, second >> 8 & 0xFF, second >> 16 & 0x7F
        accumulates, target = second >> 23 & 1, second >> 24

        def run(files: Files) -> None:
            lanes = self._waves.setdefault(
                files.number, [bytearray(SCRATCH_BYTES) for _ in range(LANES)]
            )
            registers = files.accumulators if accumulates else files.vectors
            for lane in files.active():
                at = offset + (files.vectors[address * LANES + lane] if has_address else 0)
                at += 0 if scalar == NO_SCALAR_ADDRESS else files.scalars[scalar]
                if not 0 <= at <= SCRATCH_BYTES - 4 * count:
                    raise RuntimeError(f"{name.lower()} of byte {at}")
                for number in range(count):
                    part = slice(at + 4 * number, at + 4 * number + 4)
                    register = ((target if loads else data) + number) * LANES + lane
                    if loads:
                        registers[register] = int.from_bytes(lanes[lane][part], "little")
                    else:
                        lanes[lane][part] = int(registers[register]).to_bytes(4, "little")

        return run


def refuse_accumulators(first: int) -> None:
    """Raises RuntimeError if an instruction of the data share has its bit ACC."""
    if first >> 25 & 1:
        raise RuntimeError("an exchange of lanes in accumulation registers is not executed")


def swizzle(words: tuple[int, int]) -> Callable[[Files], None]:
    """Returns the effect of ds_swizzle_b32: each lane reads a register of another lane."""
    first, second = words
    offset, source, target = first & 0xFFFF, second & 0xFF, second >> 24
    refuse_accumulators(first)
    if offset >= 0xC000:
        raise RuntimeError(f"ds_swizzle_b32 with the offset {offset:#x} is not executed")

    def partner(lane: int) -> int:
        if offset & 0x8000:  # a permutation of each four lanes
            return lane & ~3 | offset >> 2 * (lane & 3) & 3
        keep, set_, flip = offset & 31, offset >> 5 & 31, offset >> 10 & 31
        return lane & 32 | ((lane & 31 & keep) | set_) ^ flip

    def run(files: Files) -> None:
        active = files.active()
        old = [files.vectors[source * LANES + lane] for lane in range(LANES)]
        for lane in active:
            other = partner(lane)
            files.vectors[target * LANES + lane] = old[other] if other in active else 0

    return run


def permute(words: tuple[int, int], backward: bool) -> Callable[[Files], None]:
    """Returns the effect of ds_bpermute_b32 (each lane reads a lane) and of ds_permute_b32 (each lane
    writes to a lane)."""
    first, second = words
    offset, address, source, target = (
        first & 0xFFFF,
        second & 0xFF,
        second >> 8 & 0xFF,
        second >> 24,
    )
    refuse_accumulators(first)

    def run(files: Files) -> None:
        active = files.active()
        named = [
            (files.vectors[address * LANES + lane] + offset) // 4 % LANES for lane in range(LANES)
        ]
        old = [files.vectors[source * LANES + lane] for lane in range(LANES)]
        new = [0] * LANES
        for lane in active:
            if not backward:
                new[named[lane]] = old[lane]
            elif named[lane] in active:
                new[lane] = old[named[lane]]
        for lane in active:
            files.vectors[target * LANES + lane] = new[lane]

    return run


def swap_rows(word: int, rows: int) -> Callable[[Files], None]:
    """Returns the effect of v_permlane16_swap and v_permlane32_swap: the odd rows of lanes of one
    register are exchanged with the even rows of another one."""
    target, source = word >> 17 & 0xFF, word & 0xFF
    if not word & 0x100:
        raise RuntimeError("a swap of rows with other operands than vector registers")

    def run(files: Files) -> None:
        active = set(files.active())
        for lane in range(LANES):
            if lane // rows % 2 and lane in active and lane - rows in active:
                odd, even = target * LANES + lane, source * LANES + lane - rows
                files.vectors[odd], files.vectors[even] = files.vectors[even], files.vectors[odd]

    return run


def set_mode(word: int, name: str) -> Callable[[Files], None]:
    """Accepts a change of the bit FP16_OVFL, and refuses all other changes."""
    register, first, count = word & 0x3F, word >> 6 & 31, (word >> 11 & 31) + 1
    if (register, first, count) != (MODE_REGISTER, FP16_OVFL, 1):
        raise RuntimeError(f"{name.lower()} of register {register}, bit {first} is not executed")
    return no_effect


def no_effect(files: Files) -> None:
    """The effect of an instruction on caches: the emulator has none."""


def with_safe_addresses(found: tuple[Any, Any], register: int) -> Any:
    """Returns a program that gives the address 0 to the lanes that are switched off."""
    program, runtime = found
    numbers = list(program.arg.globals)
    if SCALARS not in numbers or VECTORS not in numbers:
        return found

    class Safe:
        @staticmethod
        def fxn(*buffers: Any) -> None:
            scalars, vectors = buffers[numbers.index(SCALARS)], buffers[numbers.index(VECTORS)]
            files = Files(scalars, vectors, vectors)
            active = set(files.active())
            off = [register * LANES + lane for lane in range(LANES) if lane not in active]
            old = [files.vectors[one] for one in off]
            for one in off:
                files.vectors[one] = 0
            runtime.fxn(*buffers)
            for one, value in zip(off, old, strict=True):
                files.vectors[one] = value

    return program, Safe


def install(emulator: Any) -> None:
    decode = emulator._decode_at
    scratch = Scratch()

    def decoded(address: int, architecture: str) -> Any:
        raw = bytes((ctypes.c_char * 16).from_address(address).raw)
        instruction = emulator.decode_inst(raw, architecture)
        name = emulator._op_name(instruction).replace("_E64", "").replace("_E32", "")
        words = struct.unpack_from("<2I", raw)
        if name.startswith(("BUFFER_WB", "BUFFER_INV")):
            run: Callable[[Files], None] = no_effect
        elif type(instruction).__name__ == "MUBUF":
            run = Buffer(words, name).run
        elif GLOBAL_ATOMIC.match(name):
            run = global_atomic(words, name)
        elif name.startswith("SCRATCH_"):
            run = scratch.instruction(words, name)
        elif re.match(r"V_PERMLANE(16|32)_SWAP_B32", name) and instruction.size() == 4:
            return program(emulator, 4, swap_rows(words[0], int(name[10:12]))), instruction
        elif name == "DS_SWIZZLE_B32":
            run = swizzle(words)
        elif name in ("DS_PERMUTE_B32", "DS_BPERMUTE_B32"):
            run = permute(words, name == "DS_BPERMUTE_B32")
        elif name in ("S_SETREG_IMM32_B32", "S_SETREG_B32"):
            run = set_mode(words[0], name)
        elif type(instruction).__name__ == "DS":
            found, instruction = decode(address, architecture)
            return with_safe_addresses(found, words[1] & 0xFF), instruction
        else:
            return decode(address, architecture)
        size = 4 if name == "S_SETREG_B32" else 8
        return program(emulator, size, run), instruction

    emulator._decode_at = decoded

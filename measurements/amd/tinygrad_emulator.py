"""Connects the launcher's driver `emulated` to tinygrad's emulator of AMD's machine code.

    tinygrad_emulator.py --emulator TINYGRAD_FOLDER --memory-fd 3 --socket-fd 4 \\
        --base ADDRESS --bytes SIZE --target hip:gfx942

`./run emulate-amd --emulator TINYGRAD_FOLDER` starts it. The emulator (test/mockgpu/amd/emu.py of
https://github.com/tinygrad/tinygrad, MIT) is no part of this project, and is only imported here.
docs/explanation/amd.md describes the messages, with which any other emulator can be connected.

This file loads a code object as AMD's runtime does: it places the segments, reads the kernel's
descriptor, and sets the registers that the descriptor asks for. It also corrects the emulator where
it departs from AMD's documents (class Corrections, emulated_matrices.py,
emulated_instructions.py)."""

from __future__ import annotations

import argparse
import ctypes
import importlib
import json
import mmap
import os
import select
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "sandbox")]
from emulated_instructions import install  # noqa: E402
from emulated_matrices import Mfma  # noqa: E402
from harness.recording.code_object import read_code_object  # noqa: E402

# The architectures that the emulator decodes, by target.
ARCHITECTURES = {"hip:gfx942": "cdna", "hip:gfx950": "cdna"}
LDS_GRANULE_BYTES = 512
LDS_FIELD_SHIFT, LDS_FIELD_MASK = 15, 0x1FF
USER_REGISTERS_SHIFT, USER_REGISTERS_MASK = 1, 0x1F
# The bits of a descriptor's kernel_code_properties, and the registers that each bit asks for.
KERNARG_POINTER = 1 << 3
PROPERTIES = ((1 << 0, 4), (1 << 1, 2), (1 << 2, 2), (1 << 3, 2), (1 << 4, 2), (1 << 5, 2))
SHT_RELA, SHT_REL, R_AMDGPU_RELATIVE64 = 4, 9, 13
GUARD_BYTES = 8192  # behind the code, because the emulator decodes ahead
HIDDEN_ROOM_BYTES = 256  # behind the arguments, for code that reads more than it declares
LANES = 64
HALF_REGISTERS = 128
DPP_SOURCE = 250  # as the first source: the register's number is in the next word
FREE_REGISTER = 255  # no kernel of ours uses the last vector register


class Image:
    """A loaded code object. The segments lie in memory as their addresses say."""

    def __init__(self, image: bytes) -> None:
        self._image = image
        table, section_table = struct.unpack_from("<2Q", image, 0x20)
        entry, count, _, sections = struct.unpack_from("<4H", image, 0x36)
        segments = [struct.unpack_from("<2I6Q", image, table + i * entry) for i in range(count)]
        loaded = [one for one in segments if one[0] == 1]
        self._memory = mmap.mmap(-1, max(one[3] + one[6] for one in loaded) + GUARD_BYTES)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        for _, _, offset, virtual, _, in_file, _, _ in loaded:
            self._memory[virtual : virtual + in_file] = image[offset : offset + in_file]
        self._sections = [
            struct.unpack_from("<2I4Q2I2Q", image, section_table + i * 64) for i in range(sections)
        ]
        for section in self._sections:
            if section[1] == SHT_REL and section[5] > 0:
                raise ValueError("the code object has relocations without addends")
            if section[1] == SHT_RELA:
                self._relocate(section[4], section[5])

    def _relocate(self, offset: int, size: int) -> None:
        """Performs the relocations of a table. HIP C++ has them for the names of its kernels."""
        for at in range(offset, offset + size, 24):
            place, info, addend = struct.unpack_from("<2Qq", self._image, at)
            if info != R_AMDGPU_RELATIVE64:
                raise ValueError(f"the relocation {info:#x} is not implemented here")
            struct.pack_into("<Q", self._memory, place, self.address + addend)

    def symbol(self, name: str) -> int:
        for section in self._sections:
            if section[1] not in (2, 11):  # SHT_SYMTAB, SHT_DYNSYM
                continue
            names = self._sections[section[6]][4]
            for at in range(section[4], section[4] + section[5], 24):
                text, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", self._image, at)
                end = self._image.index(b"\0", names + text)
                if self._image[names + text : end].decode() == name:
                    return int(value)
        raise ValueError(f"the code object has no symbol {name}")

    def descriptor(self, kernel: str) -> tuple[int, bytes]:
        at = self.symbol(f"{kernel}.kd")
        return self.address + at, bytes(self._memory[at : at + 64])


class Corrections:
    """Replaces instructions of CDNA for which the emulator's result differs from AMD's documents
    ("CDNA3 Instruction Set Architecture"):

    - DPP row_bcast:15 and row_bcast:31 read lane 15 of the row before, and lane 31.
    - DPP with the same source and destination register reads all lanes before it writes any.
    - An instruction on 16 bits has the registers 128 to 255 too. In the emulator, as on RDNA 3, such
      a number means the upper half of the register with the number less 128."""

    def __init__(self, emulator: Any) -> None:
        self._emulator = emulator
        self._lane_control = emulator._dpp16_ctrl
        self._decode = emulator._decode_at
        emulator._dpp16_ctrl = self._control
        emulator._decode_at = self._decoded

    def _control(self, lane: Any, control: int, rows: int, banks: int, size: int) -> Any:
        source, enabled, valid = self._lane_control(lane, control, rows, banks, size)
        emulator = self._emulator
        number = lane.cast(emulator.dtypes.int)

        def constant(value: int) -> Any:
            return emulator._c(value, emulator.dtypes.int)

        if control == 0x142:
            row = number // constant(16)
            source, valid = row * constant(16) - constant(1), number >= constant(16)
        elif control == 0x143:
            source, valid = number * constant(0) + constant(31), number >= constant(32)
        return source, enabled, valid

    def _decoded(self, address: int, architecture: str) -> Any:
        moved = self._moved(address, architecture)
        (program, runtime), instruction = self._decode(address, architecture)
        if moved:
            return self._with_moved(program, runtime, moved), instruction
        kind = type(instruction)
        if hasattr(kind, "dpp") and hasattr(kind, "vsrc0"):
            source, target = _register(instruction.vsrc0), _register(instruction.vdst)
            if source == target:
                return self._from_copy(address, program, runtime, source), instruction
        return (program, runtime), instruction

    def _moved(self, address: int, architecture: str) -> list[tuple[int, int]]:
        """Gives low registers to an instruction on 16 bits, in the code, in place of those from 128
        on. Returns the pairs of both."""
        raw = bytes((ctypes.c_char * 16).from_address(address).raw)
        instruction = self._emulator.decode_inst(raw, architecture)
        kind = type(instruction).__name__
        if not kind.startswith(("VOP1", "VOP2", "VOPC")) or "SDWA" in kind:
            return []
        bits = instruction.canonical_op_bits
        if 16 not in (bits.get("d"), bits.get("s0")):
            return []
        word = ctypes.c_uint32.from_address(address)
        # The place of each register's number in the first word of the code.
        places = [9] if kind.startswith("VOPC") else [17] if kind.startswith("VOP1") else [9, 17]
        if word.value & 0x100:  # the first source is a vector register
            places.append(0)
        used = [word.value >> place & 0xFF for place in places]
        source_of_dpp = {raw[4]} if word.value & 0x1FF == DPP_SOURCE else set()
        free = iter(sorted(set(range(8)) - set(used) - source_of_dpp))
        low = {number: next(free) for number in sorted(set(used)) if number >= HALF_REGISTERS}
        for place, number in zip(places, used, strict=True):
            if number in low:
                word.value = word.value & ~(0xFF << place) | low[number] << place
        return list(low.items())

    @staticmethod
    def _with_moved(program: Any, runtime: Any, moved: list[tuple[int, int]]) -> Any:
        position = list(program.arg.globals).index(1)  # the vector registers
        function: Callable[..., Any] = runtime.fxn
        row = 4 * LANES

        class Moving:
            @staticmethod
            def fxn(*buffers: Any) -> None:
                registers = buffers[position].value
                kept = [ctypes.string_at(registers + low * row, row) for _, low in moved]
                for high, low in moved:
                    ctypes.memmove(registers + low * row, registers + high * row, row)
                function(*buffers)
                for (high, low), old in zip(moved, kept, strict=True):
                    ctypes.memmove(registers + high * row, registers + low * row, row)
                    ctypes.memmove(registers + low * row, old, row)

        return program, Moving

    @staticmethod
    def _from_copy(address: int, program: Any, runtime: Any, source: int) -> Any:
        """Makes the instruction read a copy of its source in the last register. The emulator reads
        the register's number from the code, at each execution."""
        ctypes.c_uint8.from_address(address + 4).value = FREE_REGISTER
        position = list(program.arg.globals).index(1)  # the vector registers
        function: Callable[..., Any] = runtime.fxn

        class Copying:
            @staticmethod
            def fxn(*buffers: Any) -> None:
                registers, row = buffers[position].value, 4 * LANES
                ctypes.memmove(registers + FREE_REGISTER * row, registers + source * row, row)
                function(*buffers)

        return program, Copying


def _register(operand: Any) -> int:
    return int(getattr(operand, "offset", operand)) & 0xFF


def argument_segment(image: bytes, request: dict[str, Any]) -> Any:
    """Returns the memory that a kernel's arguments are read from: the arguments of the request, and
    behind them the hidden arguments, which AMD's runtime adds. For example, tl.num_programs() is a
    hidden argument."""
    kernel = read_code_object(image).kernel(request["kernel"])
    address, size = request["arguments"]
    segment = ctypes.create_string_buffer(max(kernel.argument_bytes, size) + HIDDEN_ROOM_BYTES)
    ctypes.memmove(segment, address, size)
    values = {"hidden_grid_dims": 3}
    for axis, name in enumerate("xyz"):
        values[f"hidden_block_count_{name}"] = int(request["grid"][axis])
        values[f"hidden_group_size_{name}"] = int(request["block"][axis])
    for one in kernel.hidden:
        raw = values.get(one.kind, 0).to_bytes(one.size, "little")
        segment[one.offset : one.offset + one.size] = raw
    return segment


class Device:
    def __init__(self, emulator: Any, target: str) -> None:
        self._emulator, self._architecture = emulator, ARCHITECTURES[target]
        self._images: dict[bytes, Image] = {}

    def launch(self, request: dict[str, Any]) -> None:
        # Code is changed while it runs (Corrections), so each launch loads the image again.
        raw = ctypes.string_at(*request["image"])
        image = Image(raw)
        address, descriptor = image.descriptor(request["kernel"])
        static_lds, scratch, _, _, entry = struct.unpack_from("<4Iq", descriptor, 0)
        _, _, resources = struct.unpack_from("<3I", descriptor, 44)
        (properties,) = struct.unpack_from("<H", descriptor, 56)
        segment = argument_segment(raw, request)
        arguments = ctypes.addressof(segment)
        registers: list[int] = []
        for bit, count in PROPERTIES:
            if properties & bit:
                given = [arguments & 0xFFFFFFFF, arguments >> 32]
                registers += given if bit == KERNARG_POINTER else [0] * count
        # Arguments that the hardware would have loaded into registers are loaded by the code that
        # stands before the kernel's own code.
        wanted = resources >> USER_REGISTERS_SHIFT & USER_REGISTERS_MASK
        registers += [0] * (wanted - len(registers))
        lds = -(-(static_lds + int(request["shared_bytes"])) // LDS_GRANULE_BYTES)
        resources &= ~(LDS_FIELD_MASK << LDS_FIELD_SHIFT)
        resources |= lds << LDS_FIELD_SHIFT
        self._emulator.run_asm(
            address + entry,
            0,
            *request["grid"],
            *request["block"],
            arguments,
            resources,
            scratch,
            self._architecture,
            registers,
        )


def map_memory(fd: int, base: int, size: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [
        *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int),
        *(ctypes.c_int, ctypes.c_long),
    ]
    shared, fixed = mmap.MAP_SHARED, 0x100000  # MAP_FIXED_NOREPLACE
    got = library.mmap(base, size, mmap.PROT_READ | mmap.PROT_WRITE, shared | fixed, fd, 0)
    if got != base:
        raise OSError(ctypes.get_errno(), f"the memory could not be mapped at {base:#x}")


def end_with(peer: socket.socket) -> None:
    """Ends this process when the launcher has ended, even while a kernel runs."""
    poll = select.poll()
    poll.register(peer, select.POLLRDHUP)
    poll.poll()
    os._exit(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--emulator", required=True, help="a checkout of tinygrad")
    for name in ("--memory-fd", "--socket-fd", "--base", "--bytes"):
        parser.add_argument(name, type=int, required=True)
    parser.add_argument("--target", required=True)
    options = parser.parse_args()
    if options.target not in ARCHITECTURES:
        parser.error(f"target '{options.target}' is unknown; valid: {', '.join(ARCHITECTURES)}")
    map_memory(options.memory_fd, options.base, options.bytes)
    peer = socket.socket(fileno=options.socket_fd)
    threading.Thread(target=end_with, args=(peer,), daemon=True).start()
    os.environ.setdefault("DEV", "CPU")
    sys.path.insert(0, options.emulator)
    emulator = importlib.import_module("test.mockgpu.amd.emu")
    Corrections(emulator)
    Mfma(emulator)
    install(emulator)
    device = Device(emulator, options.target)
    stream = peer.makefile("rw", encoding="utf-8")

    def answer(reply: dict[str, Any]) -> None:
        stream.write(json.dumps(reply) + "\n")
        stream.flush()

    answer({"ready": "tinygrad"})
    for line in stream:
        began = time.monotonic()
        try:
            device.launch(json.loads(line))
        except (RuntimeError, ValueError, NotImplementedError, KeyError, AssertionError) as error:
            answer({"error": f"{type(error).__name__}: {error}"[:2000]})
        else:
            answer({"seconds": time.monotonic() - began})


if __name__ == "__main__":
    main()

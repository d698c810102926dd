"""Executes MFMA instructions of CDNA with the layouts of AMD's documents ("CDNA3 Instruction Set
Architecture" and "AMD matrix instruction calculator"), in place of tinygrad's emulator. There the
rows of a 32x32 result lie in other lanes, and instructions of int8 do not compile.

These are the instructions of one block with 16x16 or 32x32 results, of float16, bfloat16, float32,
XF32 and int8 matrices. The inputs of an XF32 instruction keep 10 bits of their fraction: the lower
bits are dropped.

    Mfma(emulator)  # replaces the emulator's decoder by one that knows these instructions"""

from __future__ import annotations

import ctypes
import re
import struct
from dataclasses import dataclass
from typing import Any

LANES = 64
XF32_MASK = 0xFFFFE000
BITS = {"F16": 16, "BF16": 16, "F32": 32, "XF32": 32, "I8": 8}


@dataclass(frozen=True)
class Operands:
    """The registers of an instruction. A register is a pair: its file (0: vector registers,
    1: accumulation registers) and its number."""

    result: tuple[int, int]
    left: tuple[int, int]
    right: tuple[int, int]
    added: tuple[int, int] | None  # None: zeros

    @classmethod
    def decoded(cls, name: str, first: int, second: int) -> Operands:
        sums = first >> 15 & 1
        if first >> 8 & 0x7F or second >> 29:
            raise RuntimeError(f"{name.lower()} with CBSZ, ABID or BLGP is not executed")
        a, b, c = second & 0x1FF, second >> 9 & 0x1FF, second >> 18 & 0x1FF
        if a < 256 or b < 256 or (c < 256 and c != 128):
            raise RuntimeError(f"{name.lower()} with the source operands {a}, {b}, {c}")
        return cls(
            result=(sums, first & 0xFF),
            left=(second >> 27 & 1, a & 0xFF),
            right=(second >> 28 & 1, b & 0xFF),
            added=(sums, c & 0xFF) if c >= 256 else None,
        )


class Shape:
    """Where the values of the matrices lie: `side` rows and columns, `depth` products of each."""

    def __init__(self, side: int, depth: int, dtype: str) -> None:
        import numpy

        self._side, self._dtype = side, dtype
        self._groups = LANES // side
        self._each = depth // self._groups  # values of a lane
        self._input_registers = self._each * BITS[dtype] // 32
        self.registers = side * side // LANES
        lane = numpy.arange(LANES)
        index = numpy.arange(self.registers)[:, None]
        self.rows = (
            8 * (index // 4) + 4 * (lane // side) + index % 4
            if side == 32
            else 4 * (lane // side) + index
        )
        self.columns = numpy.broadcast_to(lane % side, (self.registers, LANES))

    def matrix(self, file: Any, register: int) -> Any:
        """Returns the matrix of side x depth values that the lanes hold."""
        import numpy

        raw = file[register : register + self._input_registers]
        lanes = numpy.ascontiguousarray(raw.T)  # of each lane, its registers
        if self._dtype == "F16":
            wide = lanes.view(numpy.float16).astype(numpy.float64)
        elif self._dtype == "BF16":
            halves = lanes.view(numpy.uint16).astype(numpy.uint32) << 16
            wide = halves.view(numpy.float32).astype(numpy.float64)
        elif self._dtype == "I8":
            wide = lanes.view(numpy.int8).astype(numpy.int64)
        else:
            kept = lanes & numpy.uint32(XF32_MASK) if self._dtype == "XF32" else lanes
            wide = kept.view(numpy.float32).astype(numpy.float64)
        grouped = wide.reshape(self._groups, self._side, self._each)
        return grouped.transpose(1, 0, 2).reshape(self._side, self._groups * self._each)


class Mfma:
    NAME = re.compile(r"V_MFMA_(F32|I32)_(16X16|32X32)X(\d+)_?(F16|BF16|F32|XF32|I8)(?:_1K)?$")

    def __init__(self, emulator: Any) -> None:
        self._emulator = emulator
        self._decode = emulator._decode_at
        emulator._decode_at = self._decoded

    def _decoded(self, address: int, architecture: str) -> Any:
        instruction = self._emulator.decode_inst(
            bytes((ctypes.c_char * 16).from_address(address).raw), architecture
        )
        name = self._emulator._op_name(instruction).replace("_E64", "")
        known = self.NAME.match(name)
        if known is None:
            return self._decode(address, architecture)
        words = struct.unpack("<2I", bytes((ctypes.c_char * 8).from_address(address).raw))
        shape = Shape(int(known[2][:2]), int(known[3]), known[4])
        return self._runner(Operands.decoded(name, *words), shape, known[1] == "I32"), instruction

    def _runner(self, operands: Operands, shape: Shape, of_integers: bool) -> Any:
        import numpy

        emulator = self._emulator
        dtype = numpy.int32 if of_integers else numpy.float32
        count = shape.registers

        class Program:
            class arg:
                globals = [0, 1, 5]  # scalar, vector and accumulation registers

        class Runtime:
            @staticmethod
            def fxn(scalars: Any, vectors: Any, accumulators: Any) -> None:
                files = [
                    numpy.ctypeslib.as_array(
                        ctypes.cast(one.value, ctypes.POINTER(ctypes.c_uint32)), (256, LANES)
                    )
                    for one in (vectors, accumulators)
                ]
                left = shape.matrix(files[operands.left[0]], operands.left[1])
                right = shape.matrix(files[operands.right[0]], operands.right[1])
                product = (left @ right.T)[shape.rows, shape.columns]
                if operands.added is not None:
                    file, register = operands.added
                    product = product + files[file][register : register + count].view(dtype)
                file, register = operands.result
                result = product.astype(dtype).view(numpy.uint32)
                files[file][register : register + count] = result
                scalar = ctypes.cast(scalars.value, ctypes.POINTER(ctypes.c_uint32))
                low, high = emulator.PC_LO_IDX, emulator.PC_HI_IDX
                at = (scalar[low] | scalar[high] << 32) + 8
                scalar[low], scalar[high] = at & 0xFFFFFFFF, at >> 32

        return Program, Runtime

"""Tests instructions that measurements/amd executes in place of tinygrad's emulator. The emulator is
no part of the project, so a stand-in decodes here."""

from __future__ import annotations

import ctypes
import struct
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "measurements/amd")]
from emulated_instructions import (  # noqa: E402
    Files,
    Scratch,
    global_atomic,
    install,
    permute,
    swap_rows,
    swizzle,
)
from emulated_matrices import Mfma, Operands, Shape  # noqa: E402
from tinygrad_emulator import Corrections, Image  # noqa: E402

LANES = 64


class Wave:
    """The registers of a wave, where the instructions find them."""

    def __init__(self, active: int = (1 << 64) - 1) -> None:
        self.scalar = numpy.zeros(260, numpy.uint32)
        self.vector = numpy.zeros((256, LANES), numpy.uint32)
        self.accumulator = numpy.zeros((256, LANES), numpy.uint32)
        self.scalar[126:128] = active & 0xFFFFFFFF, active >> 32

    def pointers(self) -> list[ctypes.c_uint64]:
        files = (self.scalar, self.vector, self.accumulator)
        return [ctypes.c_uint64(one.ctypes.data) for one in files]

    def files(self) -> Files:
        return Files(*self.pointers())


def emulator(name: str, kind: str = "VOP3P", found: Any = None) -> Any:
    """A stand-in of the emulator that decodes every code as one instruction."""
    instruction = type(kind, (), {})()
    return SimpleNamespace(
        PC_LO_IDX=256,
        PC_HI_IDX=257,
        decode_inst=lambda raw, architecture: instruction,
        _op_name=lambda instruction: name,
        _decode_at=lambda address, architecture: (found, instruction),
    )


def test_the_lane_of_a_permutation_is_modulo_the_wave() -> None:
    wave, lanes = Wave(), numpy.arange(LANES)
    wave.vector[1] = 4 * (64 + (lanes ^ 32))  # as threads 64 to 127 compute it
    wave.vector[2] = 1000 + lanes
    permute((0, 3 << 24 | 2 << 8 | 1), backward=True)(wave.files())
    assert (wave.vector[3] == 1000 + (lanes ^ 32)).all()
    wave.vector[1] = 4 * 7
    permute((0, 4 << 24 | 2 << 8 | 1), backward=False)(wave.files())
    assert wave.vector[4, 7] == 1063 and wave.vector[4, 8] == 0


@pytest.mark.parametrize("rows", [16, 32])
def test_odd_rows_are_exchanged_with_even_rows(rows: int) -> None:
    wave, lanes = Wave(), numpy.arange(LANES)
    wave.vector[1], wave.vector[2] = lanes, 100 + lanes
    swap_rows(1 << 17 | 0x100 | 2, rows)(wave.files())
    odd = lanes // rows % 2 == 1
    assert (wave.vector[1] == numpy.where(odd, 100 + lanes - rows, lanes)).all()
    assert (wave.vector[2] == numpy.where(odd, 100 + lanes, lanes + rows)).all()
    with pytest.raises(RuntimeError, match="other operands than vector registers"):
        swap_rows(1 << 17 | 2, rows)


@pytest.mark.parametrize(
    ("name", "bits", "new", "result"),
    [("ADD", 32, 5, 0), ("ADD_X2", 64, 5, 1 << 32), ("SMAX", 32, 3, 3), ("SWAP_X2", 64, 9, 9)],
)
def test_an_atomic_operation_changes_memory_of_active_lanes_only(
    name: str, bits: int, new: int, result: int
) -> None:
    memory = ctypes.create_string_buffer(((1 << 32) - 5).to_bytes(8, "little"), 8)
    wave = Wave(active=1 << 9)  # the other lanes have an address in no memory
    wave.vector[1, 9], wave.vector[4, 9] = 8, new
    address = ctypes.addressof(memory) - 16
    wave.scalar[6:8] = address & 0xFFFFFFFF, address >> 32
    returns, offset = 1 << 16, 8
    words = (returns | offset, 2 << 24 | 6 << 16 | 4 << 8 | 1)
    global_atomic(words, f"GLOBAL_ATOMIC_{name}")(wave.files())
    assert int.from_bytes(memory.raw, "little") & ((1 << bits) - 1) == result
    assert wave.vector[2, 9] == (1 << 32) - 5
    with pytest.raises(RuntimeError, match="global_atomic_smin_x2 is not executed"):
        global_atomic(words, "GLOBAL_ATOMIC_SMIN_X2")


def test_an_exchange_of_lanes_in_accumulation_registers_is_refused() -> None:
    for refused in (
        lambda words: permute(words, backward=True),
        swizzle,
    ):
        with pytest.raises(RuntimeError, match="accumulation registers"):
            refused((1 << 25, 0))


def test_each_wave_has_scratch_memory_of_its_own() -> None:
    scratch, waves = Scratch(), [Wave(), Wave(active=0b10)]
    nowhere = 0x7F << 16
    for number, wave in enumerate(waves):
        wave.vector[3], wave.vector[4] = 10 + number, 20 + number
        scratch.instruction((8, nowhere | 3 << 8), "SCRATCH_STORE_DWORDX2")(wave.files())
    for number, wave in enumerate(waves):
        scratch.instruction((12, nowhere | 7 << 24), "SCRATCH_LOAD_DWORD")(wave.files())
        assert list(wave.vector[7, :3]) == [[20, 20, 20], [0, 21, 0]][number]
    with pytest.raises(RuntimeError, match="scratch_load_dword of byte -4"):
        scratch.instruction((0x1FFC, nowhere), "SCRATCH_LOAD_DWORD")(waves[0].files())
    with pytest.raises(RuntimeError, match="scratch_load_sbyte is not executed"):
        scratch.instruction((0, nowhere), "SCRATCH_LOAD_SBYTE")


def test_an_instruction_on_the_lds_has_no_address_in_lanes_that_are_off() -> None:
    wave, seen = Wave(active=0b101), []

    class Program:
        class arg:
            globals = [0, 1]

    class Runtime:
        @staticmethod
        def fxn(*buffers: Any) -> None:
            seen.extend(int(value) for value in wave.vector[5, :4])

    wave.vector[5] = 0xFFFFFFF0
    code = ctypes.create_string_buffer(struct.pack("<2I", 0, 5), 16)
    one = emulator("DS_READ_B32", "DS", (Program, Runtime))
    install(one)
    (_, runtime), _ = one._decode_at(ctypes.addressof(code), "cdna")
    runtime.fxn(*wave.pointers()[:2])
    assert seen == [0xFFFFFFF0, 0, 0xFFFFFFF0, 0]
    assert set(wave.vector[5]) == {0xFFFFFFF0}


def test_an_instruction_on_16_bits_has_registers_from_128_on() -> None:
    wave = Wave()
    code = ctypes.create_string_buffer(struct.pack("<I", 198 << 17 | 0x100 | 200), 16)

    class Program:
        class arg:
            globals = [1]

    class Runtime:
        @staticmethod
        def fxn(vectors: Any) -> None:
            (word,) = struct.unpack_from("<I", code)
            target, source = word >> 17 & 0xFF, word & 0xFF
            assert target < 128 and source < 128  # others would be halves of registers
            wave.vector[target, 3] = wave.vector[source, 3] + 1

    wave.vector[:8], wave.vector[200], wave.vector[198] = 77, 41, 5
    one = emulator("V_CVT_F16_F32", "VOP1", (Program, Runtime))
    one._dpp16_ctrl = None
    type(one.decode_inst(b"", "")).canonical_op_bits = {"d": 16, "s0": 32}
    Corrections(one)
    (_, runtime), _ = one._decode_at(ctypes.addressof(code), "cdna")
    runtime.fxn(wave.pointers()[1])
    assert list(wave.vector[198, 2:5]) == [5, 42, 5]
    assert (wave.vector[:8] == 77).all() and (wave.vector[200] == 41).all()
    # The source of a DPP instruction stands in the second word. Here it is register 0.
    code[:8] = struct.pack("<2I", 198 << 17 | 250, 0)
    one._decode_at(ctypes.addressof(code), "cdna")
    (word,) = struct.unpack_from("<I", code)
    assert 0 < word >> 17 & 0xFF < 128


@pytest.mark.parametrize(
    ("name", "side", "depth", "per_register"),
    [
        ("V_MFMA_F32_16X16X4_F32", 16, 4, 1),
        ("V_MFMA_F32_32X32X4_XF32", 32, 4, 1),
        ("V_MFMA_F32_32X32X8_F16", 32, 8, 2),
        ("V_MFMA_I32_16X16X32_I8", 16, 32, 4),
    ],
)
def test_an_mfma_instruction_multiplies_matrices(
    name: str, side: int, depth: int, per_register: int
) -> None:
    dtype = {1: numpy.float32, 2: numpy.float16, 4: numpy.int8}[per_register]
    draw = numpy.random.default_rng(7)
    left, right = (draw.integers(-9, 9, (side, depth)).astype(dtype) for _ in range(2))
    added = draw.integers(-9, 9, (side, side)).astype(numpy.float32)
    if "I32" in name:
        added = added.astype(numpy.int32)
    wave = Wave()
    each = depth // (LANES // side)
    for lane in range(LANES):
        # A lane holds neighbours of one row, as "AMD matrix instruction calculator" prints them.
        part = slice(lane // side * each, lane // side * each + each)
        for register, matrix in ((10, left), (40, right)):
            words = numpy.ascontiguousarray(matrix[lane % side, part]).view(numpy.uint32)
            wave.vector[register : register + len(words), lane] = words
        for index in range(side * side // LANES):
            row = 4 * (lane // side) + index % 4 + (8 * (index // 4) if side == 32 else 0)
            wave.accumulator[index, lane] = added[row, lane % side].view(numpy.uint32)
    code = struct.pack("<2I", 1 << 15, (256 + 0) << 18 | (256 + 40) << 9 | 256 + 10)
    one = emulator(name)
    Mfma(one)
    (_, runtime), _ = one._decode_at(
        ctypes.addressof(buffer := ctypes.create_string_buffer(code, 16)), "cdna"
    )
    runtime.fxn(*wave.pointers())
    assert len(buffer.raw) == 16 and wave.scalar[256] == 8
    shape = Shape(side, depth, name.rsplit("_", 1)[1])
    got = numpy.zeros((side, side), added.dtype)
    got[shape.rows, shape.columns] = wave.accumulator[: shape.registers].view(added.dtype)
    wide = numpy.float64 if dtype != numpy.int8 else numpy.int64
    assert (got == left.astype(wide) @ right.astype(wide).T + added).all()


def test_an_mfma_instruction_with_other_operands_is_refused() -> None:
    vectors = (256 + 40) << 9 | 256 + 10
    assert Operands.decoded("V_MFMA", 0, 128 << 18 | vectors).added is None
    with pytest.raises(RuntimeError, match="BLGP is not executed"):
        Operands.decoded("V_MFMA", 0, 1 << 29 | 128 << 18 | vectors)
    with pytest.raises(RuntimeError, match="the source operands 266, 296, 240"):
        Operands.decoded("V_MFMA", 0, 240 << 18 | vectors)


def relocated(info: int) -> bytes:
    """Returns a code object with one segment, and one relocation of the word at address 128."""
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    header += struct.pack("<2HI3QI6H", 3, 224, 1, 0, 64, 168, 0, 64, 56, 1, 64, 2, 0)
    segment = struct.pack("<2I6Q", 1, 6, 0, 0, 0, 168, 168, 4096)
    relocation = struct.pack("<2Qq", 128, info, 0x40)
    table = bytes(64) + struct.pack("<2I4Q2I2Q", 0, 4, 0, 0, 144, 24, 0, 0, 8, 24)
    return (header + segment).ljust(144, b"\0") + relocation + table


def test_a_code_object_with_relative_relocations_is_loaded() -> None:
    image = Image(relocated(13))
    assert ctypes.c_uint64.from_address(image.address + 128).value == image.address + 0x40
    with pytest.raises(ValueError, match="the relocation 0x1 is not implemented"):
        Image(relocated(1))

"""Compares the metadata of AMD's code objects with the launch plans that launch them: the sizes and
offsets of the arguments, the LDS, the wave size and the number of threads. A few oracles are
compiled here. measurements/amd/static_figures.py compares all of them."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "measurements" / "amd"))

from harness.recording.code_object import packed_offsets, read_code_object  # noqa: E402
from static_figures import (  # noqa: E402
    TARGETS,
    Unit,
    differences,
    operators,
    waves_per_unit,
)

# The last four need almost all registers of a wave.
OPERATORS = (
    *("vector_add", "softmax_last_dim", "matmul_fp16", "argmax_last_dim"),
    *("lora_linear", "mla_decode", "powerlaw_square_attention", "sliding_window_attn"),
)


def packed(value: Any) -> bytes:
    """Writes a value as MessagePack, in the forms that LLVM uses."""
    if isinstance(value, dict):
        body = b"".join(packed(key) + packed(one) for key, one in value.items())
        return struct.pack(">BH", 0xDE, len(value)) + body
    if isinstance(value, list):
        return struct.pack(">BH", 0xDC, len(value)) + b"".join(map(packed, value))
    if isinstance(value, str):
        return struct.pack(">BB", 0xD9, len(value)) + value.encode()
    return struct.pack("B", value) if value < 128 else struct.pack(">BI", 0xCE, value)


KERNEL = {
    ".name": "add",
    ".args": [
        {".offset": 0, ".size": 8, ".value_kind": "global_buffer"},
        {".offset": 8, ".size": 4, ".value_kind": "by_value"},
        {".offset": 16, ".size": 4, ".value_kind": "hidden_block_count_x"},
    ],
    ".kernarg_segment_size": 20,
    ".group_segment_fixed_size": 1024,
    ".private_segment_fixed_size": 0,
    ".wavefront_size": 64,
    ".vgpr_count": 200,
    ".sgpr_count": 20,
    ".max_flat_workgroup_size": 256,
}


def image_of(document: Any, machine: int = 224) -> bytes:
    description = packed(document)
    note = struct.pack("<3I", 7, len(description), 32) + b"AMDGPU\0\0" + description
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    header += struct.pack("<2HI3QI6H", 3, machine, 1, 0, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    return header + struct.pack("<2I6Q", 4, 4, 120, 0, 0, len(note), len(note), 4) + note


DOCUMENT = {"amdhsa.target": "amdgcn-amd-amdhsa--gfx90a:xnack-", "amdhsa.kernels": [KERNEL]}


def test_metadata_is_read_from_the_note() -> None:
    code = read_code_object(image_of(DOCUMENT))
    kernel = code.kernel("add")
    assert code.target == "hip:gfx90a"
    assert [(one.offset, one.size) for one in kernel.arguments] == [(0, 8), (8, 4)]
    assert [one.kind for one in kernel.hidden] == ["hidden_block_count_x"]
    assert (kernel.lds_bytes, kernel.wave_size, kernel.vector_registers) == (1024, 64, 200)
    with pytest.raises(ValueError, match="no kernel sub; it has: add"):
        code.kernel("sub")


def test_broken_images_are_value_errors() -> None:
    whole = image_of(DOCUMENT)
    for end in range(len(whole)):
        with pytest.raises(ValueError):
            read_code_object(whole[:end])
    with pytest.raises(ValueError, match="machine 190"):
        read_code_object(image_of(DOCUMENT, machine=190))
    deep: Any = []
    for _ in range(40):
        deep = [deep]
    for wrong in (deep, [], {}, {"amdhsa.kernels": [{}]}, {"amdhsa.kernels": 3}):
        with pytest.raises(ValueError):
            read_code_object(image_of(wrong))


def test_the_launcher_packs_each_argument_at_a_multiple_of_its_size() -> None:
    assert packed_offsets([8, 4, 1, 2, 8]) == [0, 8, 12, 14, 16]


def test_waves_are_limited_by_registers_lds_and_the_unit() -> None:
    unit = Unit(64 << 10)
    assert waves_per_unit(unit, 256, 64, 0) == (32, "waves")
    assert waves_per_unit(unit, 256, 256, 0) == (8, "registers")
    assert waves_per_unit(unit, 256, 32, 40 << 10) == (4, "LDS")


def test_a_difference_is_named() -> None:
    from harness.recording.plan import Binary, Kernel, Null, Scalar

    binary = Binary("add", 65 << 10, image_of(DOCUMENT))
    one = (1, 1, 1)
    launch = Kernel(0, one, (512, 1, 1), one, 0, [Null(), Scalar(8, 1)])
    found = differences("hip:gfx942", binary, launch)
    assert [text.split(" ")[:3] for text in found] == [
        ["the", "target", "is"],
        ["the", "sizes", "of"],
        ["a", "block", "has"],
        ["a", "block", "needs"],
    ]


def test_code_objects_agree_with_their_plans(tmp_path: Path) -> None:
    guards = sorted((ROOT / "build").glob("*/harness/libassay_fake_cuda_guard.so"))
    result = tmp_path / "figures.json"
    done = subprocess.run(
        [sys.executable, str(ROOT / "measurements/amd/static_figures.py"), str(result), *OPERATORS],
        env={**os.environ, "ASSAY_NATIVE_DIR": str(guards[0].parent) if guards else ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(result.read_text())["operators"]
    for operator in OPERATORS:
        for target in TARGETS:
            kernels = found[operator][target]["kernels"]
            assert kernels, (operator, target)
            for kernel in kernels:
                assert not kernel["differences"], (operator, target, kernel)
                assert kernel["vector_spills"] == 0 and kernel["scratch_bytes"] == 0


def test_the_stored_figures_have_each_oracle_without_differences_and_spills() -> None:
    stored = ROOT / "measurements/results/amd-static.json"
    found = json.loads(stored.read_text())["operators"]
    assert sorted(found) == [
        folder.name for folder in sorted(operators([]), key=lambda one: one.name)
    ]
    for operator, targets in found.items():
        assert set(targets) == set(TARGETS), operator
        for figures in targets.values():
            assert figures.get("kernels"), (operator, figures)
            for kernel in figures["kernels"]:
                assert not kernel["differences"] and kernel["vector_spills"] == 0, (
                    operator,
                    kernel,
                )


GOLDEN = (
    """import torch
import triton
import triton.language as tl

@triton.jit
def add(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)

def plus_one(x):
    y = torch.empty_like(x)
    add[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
    return y

"""
    + "#" * 146
    + """

def test_plus_one():
    return {"case_1": plus_one(torch.randn(1000, device="cuda"))}

result_gold = test_plus_one()
"""
)


def test_golden_files_are_compared_with_their_plans(tmp_path: Path) -> None:
    (tmp_path / "plus_one.py").write_text(GOLDEN)
    (tmp_path / "broken.py").write_text("raise SystemExit(3)\n")
    result = tmp_path / "result.json"
    script = str(ROOT / "measurements/amd/golden_static.py")
    done = subprocess.run(
        [sys.executable, script, str(tmp_path), str(result), "--target", "hip:gfx942"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(result.read_text())
    (kernel,) = found["files"]["plus_one.py"]["hip:gfx942"]["kernels"]
    assert kernel["kernel"] == "add" and kernel["differences"] == []
    assert not found["files"]["broken.py"]["hip:gfx942"]["recorded"]
    assert found["summary"]["hip:gfx942"]["recorded"] == 1

"""Tests disassembling the binaries of a plan, with the disassembler that Triton includes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from harness.recording import disassemble
from harness.recording import plan as plans
from harness.recording.disassemble import MAX_KERNELS, BrokenPlan, binaries, disassemblies

pytestmark = pytest.mark.filterwarnings("ignore")

KERNEL = """
import triton
import triton.language as tl


@triton.jit
def double(x, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i) * 2)
"""


def plan_of(*images: tuple[str, bytes]) -> bytes:
    plan = plans.Plan("cuda:90")
    plan.buffer(plans.BufferKind.INPUT, 16, "x")
    for name, image in images:
        plan.binaries.append(plans.Binary(name, 0, image))
    return plan.encode()


@pytest.fixture(scope="module")
def cubin(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    import importlib.util

    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    path = tmp_path_factory.mktemp("kernel") / "submission.py"
    path.write_text(KERNEL)
    spec = importlib.util.spec_from_file_location("submission", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    source = ASTSource(module.double, {"x": "*fp32", "BLOCK": "constexpr"}, {(1,): 128})
    return bytes(triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["cubin"])


def test_binaries_of_a_plan_are_found() -> None:
    assert list(binaries(plan_of(("a", b"1"), ("b", b"22")))) == [("a", b"1"), ("b", b"22")]


@pytest.mark.parametrize("size", [0, 4, 8, 11, 40, -1])
def test_half_a_plan_is_refused(size: int) -> None:
    with pytest.raises(BrokenPlan):
        list(binaries(plan_of(("a", b"1" * 100))[: size if size >= 0 else 60]))


def test_the_listing_has_instructions_and_their_source_lines(cubin: bytes, tmp_path: Path) -> None:
    [(name, text)] = disassemblies(plan_of(("double", cubin)), str(tmp_path))
    assert name == "double"
    assert b"LDG.E" in text and b"STG.E" in text and b"EXIT" in text
    assert b'submission.py", line 9' in text


def test_the_tool_rejects_bytes_that_are_not_a_binary(tmp_path: Path) -> None:
    [(_, text)] = disassemblies(plan_of(("junk", b"no ELF")), str(tmp_path))
    assert b"LDG" not in text and text


def test_a_tool_that_hangs_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "slow"
    tool.write_text("#!/bin/sh\necho begins\nexec sleep 1000\n")
    tool.chmod(0o755)
    monkeypatch.setattr(disassemble, "nvdisasm", lambda: str(tool))
    limits: list[float] = []

    def wait(*lists: Any) -> Any:
        """Waits for the first part of the text. The time is over before a second part comes."""
        *descriptors, left = lists
        limits.append(left)
        return select(*descriptors) if len(limits) == 1 else ([], [], [])

    select = disassemble.select.select
    monkeypatch.setattr(disassemble, "select", SimpleNamespace(select=wait))
    [(_, text)] = disassemblies(plan_of(("slow", b"junk")), str(tmp_path))
    assert text == b"begins\n\nthe disassembler was stopped after 30 s\n"
    assert all(0 < left <= disassemble.TOOL_WALL_S for left in limits)


def test_a_long_text_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "long"
    tool.write_text("#!/bin/sh\nexec yes\n")
    tool.chmod(0o755)
    monkeypatch.setattr(disassemble, "nvdisasm", lambda: str(tool))
    [(_, text)] = disassemblies(plan_of(("long", b"junk")), str(tmp_path))
    assert len(text) == disassemble.MAX_TEXT_BYTES


def test_only_the_first_kernels_are_disassembled(cubin: bytes, tmp_path: Path) -> None:
    many = plan_of(*[(f"k{i}", b"junk") for i in range(MAX_KERNELS + 3)])
    assert [name for name, _ in disassemblies(many, str(tmp_path))] == [
        f"k{i}" for i in range(MAX_KERNELS)
    ]

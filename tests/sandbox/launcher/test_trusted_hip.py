"""Compiles the HIP C++ text of the launcher's own kernels with clang, for the newest GPU of AMD that
clang 14 knows. hipRTC, which the launcher uses, is the same compiler and exists only with ROCm."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TEXT = ROOT / "sandbox/launcher/memory/trusted_hip.cc"
LOADER = ROOT / "sandbox/launcher/memory/trusted_kernels.cc"
# hipRTC declares these names before the text begins.
DECLARED = """
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __device__ __attribute__((device))
#define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n)))
struct Position { unsigned x, y, z; };
#define threadIdx (Position{__builtin_amdgcn_workitem_id_x(), 0, 0})
#define blockIdx (Position{__builtin_amdgcn_workgroup_id_x(), 0, 0})
#define blockDim (Position{__builtin_amdgcn_workgroup_size_x(), 1, 1})
#define gridDim (Position{__builtin_amdgcn_grid_size_x() / blockDim.x, 1, 1})
__device__ inline void __syncthreads() { __builtin_amdgcn_s_barrier(); }
"""


@pytest.mark.skipif(shutil.which("clang") is None, reason="needs clang with the target amdgcn")
def test_the_text_compiles_and_has_each_kernel(tmp_path: Path) -> None:
    match = re.search(r'R"\((.*?)\)";', TEXT.read_text(), re.DOTALL)
    assert match is not None
    source, assembly = tmp_path / "trusted.hip", tmp_path / "trusted.s"
    source.write_text(DECLARED + match.group(1))
    options = "--cuda-device-only --offload-arch=gfx90a -nogpuinc -nogpulib -O3 -Werror -S"
    done = subprocess.run(
        ["clang", "-x", "hip", *options.split(), str(source), "-o", str(assembly)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    kernels = set(re.findall(r'\{"(assay_\w+)"', LOADER.read_text()))
    text = assembly.read_text()
    assert len(kernels) == 7
    assert kernels == set(re.findall(r"\.name:\s+(assay_\w+)", text))
    # The scrub kernel uses all registers that a thread of its block can have.
    scrub = text[text.index(".name:           assay_scrub") :]
    registers = re.search(r"\.vgpr_count:\s+(\d+)", scrub)
    assert registers is not None and int(registers.group(1)) == 128

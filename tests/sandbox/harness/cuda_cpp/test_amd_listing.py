"""Tests the disassembly of HIP C++ kernels. Those that need ROCm's libraries use Debian's
(libamdhip64-5), and are skipped without them."""

from __future__ import annotations

import pytest
from harness.cuda_cpp import amd_listing
from harness.cuda_cpp.amd_listing import ListingError, listings, split
from harness.cuda_cpp.hiprtc import HipRtc
from harness.entry.errors import UnsupportedHere

LOOP = """:	file format elf64-amdgpu

Disassembly of section .text:
.text:
	s_nop 0                                                    // 000000001C00: BF800000
_Z4loopPi:
	s_mov_b32 s0, 0                                            // 000000001D00: BE800080
	s_add_i32 s0, s0, 1                                        // 000000001D04: 81000100
	s_cmp_lt_i32 s0, 9                                         // 000000001D08: BF048900
	s_cbranch_scc1 65533                                       // 000000001D0C: BF85FFFD  <_Z4loopPi+0x4>
	s_cbranch_execz 1                                          // 000000001D10: BF880001  <_Z4loopPi+0x18>
	s_branch 65529                                             // 000000001D14: BF82FFF9  <_Z4loopPi>
	s_endpgm                                                   // 000000001D18: BF810000
	v_cndmask_b32_e32 v0, s0, v0, vcc                          // 000000001D1C: 00000000
	s_code_end                                                 // 000000001D20: BF9F0000
_Z3endv:
	s_endpgm                                                   // 000000001E00: BF810000
"""
SOURCE = """
__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
__global__ void count(int* y, int n) {
  __shared__ int all[64];
  for (int i = 0; i < n; ++i) { all[threadIdx.x] = i; __syncthreads(); y[i] += all[63 - threadIdx.x]; }
}
"""


def test_branches_of_a_disassembly_name_labels_and_padding_is_left_out() -> None:
    assert dict(split(LOOP)) == {
        "_Z4loopPi": "_Z4loopPi:\n"
        ".L0:\n"
        "  s_mov_b32 s0, 0\n"
        ".L4:\n"
        "  s_add_i32 s0, s0, 1\n"
        "  s_cmp_lt_i32 s0, 9\n"
        "  s_cbranch_scc1 .L4\n"
        "  s_cbranch_execz .L18\n"
        "  s_branch .L0\n"
        ".L18:\n"
        "  s_endpgm\n",
        "_Z3endv": "_Z3endv:\n  s_endpgm\n",
    }
    assert list(split("")) == []


def test_kernels_of_hip_cpp_are_disassembled() -> None:
    try:
        compiler = HipRtc.load()
        amd_listing._open()
    except (UnsupportedHere, ListingError) as error:
        pytest.skip(str(error))  # a library is not installed
    program = compiler.compile(SOURCE, "hip:gfx90a", ["twice", "count"], [])
    found = dict(listings(program.image, "hip:gfx90a"))
    assert set(program.lowered.values()) <= set(found)
    twice, count = (found[program.lowered[name]] for name in ("twice", "count"))
    assert "global_load_dword" in twice and "global_store_dword" in twice
    assert "ds_write_b32" in count and "s_cbranch" in count
    for text in (twice, count):
        assert text.splitlines()[-1] == "  s_endpgm" and "//" not in text
        for line in text.splitlines():
            if "branch" in line:
                assert f"\n{line.split()[-1]}:\n" in text, line


def test_an_image_that_is_no_code_object_is_an_error() -> None:
    try:
        amd_listing._open()
    except ListingError as error:
        pytest.skip(str(error))
    with pytest.raises(ListingError, match="amd_comgr_do_action failed"):
        list(listings(b"\x7fELF\x02\x01 and nothing else", "hip:gfx90a"))


def test_without_the_library_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(amd_listing, "LIBRARIES", ("libassay-no-such-comgr.so",))
    with pytest.raises(ListingError, match=r"no libamd_comgr.*libassay-no-such-comgr"):
        list(listings(b"", "hip:gfx90a"))

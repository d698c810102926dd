"""Compiles the HIP C++ text of the launcher's own kernels to PTX with clang, and writes a C++ header
with the PTX. The text calls two functions of AMD's compiler that read timers; the declarations below
replace them by NVIDIA's timers.

python make_ptx.py CLANG TRUSTED_HIP.CC OUT.h"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

# %globaltimer counts nanoseconds. The timer that the text reads ticks every 10 ns.
DECLARED = """
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __device__ __attribute__((device))
#define __launch_bounds__(n) __attribute__((launch_bounds(n)))
struct Position { unsigned x, y, z; };
#define threadIdx (Position{(unsigned)__nvvm_read_ptx_sreg_tid_x(), 0, 0})
#define blockIdx (Position{(unsigned)__nvvm_read_ptx_sreg_ctaid_x(), 0, 0})
#define blockDim (Position{(unsigned)__nvvm_read_ptx_sreg_ntid_x(), 1, 1})
#define gridDim (Position{(unsigned)__nvvm_read_ptx_sreg_nctaid_x(), 1, 1})
__device__ inline unsigned long long read_timer_10ns() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now / 10;
}
__device__ inline unsigned long long read_cycles() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(now));
  return now;
}
#define __builtin_amdgcn_s_memrealtime read_timer_10ns
#define __builtin_amdgcn_s_memtime read_cycles
"""
# The CUDA driver assembles PTX for any newer GPU.
OPTIONS = "--cuda-device-only --cuda-gpu-arch=sm_80 -nocudainc -nocudalib -O3 -Werror -S"
MOST_LITERAL_CHARS = 8000  # compilers limit the length of a literal


def trusted_text(source: str) -> str:
    match = re.search(r'R"\((.*?)\)";', source, re.DOTALL)
    if match is None:
        raise SystemExit("the source has no text of kernels")
    return match.group(1)


def main() -> None:
    clang, source, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    unit, ptx = out.with_suffix(".cu"), out.with_suffix(".ptx")
    unit.write_text(DECLARED + trusted_text(source.read_text()))
    command = [clang, "-x", "cuda", *OPTIONS.split(), "-Wno-unknown-cuda-version", str(unit)]
    subprocess.run([*command, "-o", str(ptx)], check=True)
    text = ptx.read_text()
    pieces = [text[at : at + MOST_LITERAL_CHARS] for at in range(0, len(text), MOST_LITERAL_CHARS)]
    literals = "\n".join(f'R"ptx({piece})ptx"' for piece in pieces)
    out.write_text(f"static const char* const kTrustedPtx =\n{literals};\n")


if __name__ == "__main__":
    main()

"""Measures whether a kernel can overwrite machine code in its own GPU context.

    python measurements/writable_code.py --out measurements/results/writable-code-h200.json

The launcher's own kernels run in the GPU context of the submission. If device code can overwrite
them, a submission can change the kernels that measure it. The steps are:

1. Load a victim kernel that stores the address of its own code. No PTX instruction returns this
   address. But the call of an external function (vprintf) puts the address into register 20. So the
   script replaces this call in the compiled victim by a no-op, and makes the store use register 20.
2. A second kernel reads the victim's store instruction, which lies at a known distance from the
   stored address. The script compares the instruction with that in the compiled victim.
3. A third kernel overwrites the store instruction, so that it stores another register. Then the
   victim runs again.
4. Kernels whose code is larger than the instruction caches run on every multiprocessor. This
   removes the victim's code from the caches. Then the victim runs a third time.

Needs an NVIDIA GPU of compute capability 9.0. There is no sandbox, because the kernels are trusted
code of this repository."""

from __future__ import annotations

import argparse
import ctypes
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from environment import environment

TARGET = "sm_90"
MARKER = 0x5EED
STORE_REGISTER = 20  # the register in which a call passes its return address
INSTRUCTION_BYTES = 16
# The low 12 bits of an instruction are its operation.
LOAD_ADDRESS, CALL, STORE = 0x94E, 0x343, 0x986
NO_OP = struct.pack("<QQ", 0x7918, 0x000FC00000000000)
# The distance in bytes from the instruction LOAD_ADDRESS to the code address that it loads, which
# is the return address of the call.
ADDRESS_AFTER_CALL = 0x20
BIG_KERNELS = 12
BIG_INSTRUCTIONS = 3_000  # the number in each big kernel; ptxas is slow for larger kernels
BIG_BLOCKS = 5_000
VICTIM_BLOCKS = 5_000

HEAD = ".version 7.8\n.target sm_90\n.address_size 64\n"
VICTIM = (
    HEAD
    + """
.extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 values);
.visible .entry victim(.param .u64 out, .param .u64 marker)
{
  .reg .b64 to, value;
  .reg .b32 printed;
  ld.param.u64 to, [out];
  ld.param.u64 value, [marker];
  {
    .param .b64 format;
    .param .b64 values;
    .param .b32 result;
    st.param.b64 [format], to;
    st.param.b64 [values], to;
    call (result), vprintf, (format, values);
    ld.param.b32 printed, [result];
  }
  cvta.to.global.u64 to, to;
  st.global.u64 [to], value;
  ret;
}
"""
)
TOOLS = (
    HEAD
    + """
.visible .entry read_words(.param .u64 to, .param .u64 from, .param .u32 words)
{
  .reg .pred over;
  .reg .b64 target, source, word;
  .reg .b32 left;
  ld.param.u64 target, [to];
  ld.param.u64 source, [from];
  ld.param.u32 left, [words];
NEXT:
  setp.eq.u32 over, left, 0;
  @over ret;
  ld.volatile.u64 word, [source];
  st.volatile.u64 [target], word;
  add.u64 target, target, 8;
  add.u64 source, source, 8;
  sub.u32 left, left, 1;
  bra NEXT;
}
.visible .entry write_word(.param .u64 to, .param .u64 word)
{
  .reg .b64 target, value;
  ld.param.u64 target, [to];
  ld.param.u64 value, [word];
  st.volatile.u64 [target], value;
  ret;
}
"""
)


def big_text() -> str:
    """Returns BIG_KERNELS kernels. Each has BIG_INSTRUCTIONS multiplications, by constants that no
    other kernel uses."""
    return HEAD + "".join(big_kernel(k) for k in range(BIG_KERNELS))


def big_kernel(k: int) -> str:
    products = "".join(
        f"  fma.rn.f32 v{i % 4}, v{i % 4}, 0f3F8{(i + k * BIG_INSTRUCTIONS) % 2**20:05X}, 0f400{i:05X};\n"
        for i in range(BIG_INSTRUCTIONS)
    )
    return f"""
.visible .entry big{k}(.param .u64 out, .param .f32 start)
{{
  .reg .f32 x, v0, v1, v2, v3;
  .reg .pred never;
  .reg .b64 to;
  ld.param.u64 to, [out];
  ld.param.f32 x, [start];
  add.f32 v0, x, 0f3F800000;
  add.f32 v1, x, 0f3F800001;
  add.f32 v2, x, 0f3F800002;
  add.f32 v3, x, 0f3F800003;
{products}
  add.f32 v0, v0, v1;
  add.f32 v2, v2, v3;
  add.f32 v0, v0, v2;
  setp.eq.f32 never, v0, 0f42F60000;
  @never st.global.f32 [to], v0;
  ret;
}}
"""


def compiled(text: str) -> bytes:
    import triton

    ptxas = Path(triton.__file__).parent / "backends/nvidia/bin/ptxas"
    with tempfile.TemporaryDirectory() as folder:
        source, image = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(text)
        subprocess.run([ptxas, f"-arch={TARGET}", "-o", image, source], check=True)
        return image.read_bytes()


def patched_victim() -> tuple[bytes, int, bytes]:
    """Returns the victim's image with the three changes of step 1, the distance in bytes from the
    stored address to the store instruction, and the bytes of the store instruction."""
    image = bytearray(compiled(VICTIM))

    def find(operation: int, register: int | None, start: int) -> int:
        for at in range(start, len(image) - INSTRUCTION_BYTES, 8):
            (word,) = struct.unpack_from("<Q", image, at)
            if word & 0xFFF == operation and (register is None or (word >> 16) & 0xFF == register):
                return at
        raise SystemExit(f"the compiled victim has no instruction {operation:#x}; is ptxas newer?")

    load = find(LOAD_ADDRESS, STORE_REGISTER, 0)
    call = find(CALL, None, load + INSTRUCTION_BYTES)
    store = find(STORE, None, call + INSTRUCTION_BYTES)
    if call != load + INSTRUCTION_BYTES:
        raise SystemExit("the call does not follow the load of the return address")
    image[call : call + INSTRUCTION_BYTES] = NO_OP
    image[store + 4] = STORE_REGISTER
    return (
        bytes(image),
        store - load - ADDRESS_AFTER_CALL,
        bytes(image[store : store + INSTRUCTION_BYTES]),
    )


def marker_register() -> int:
    """Returns the register that the unchanged victim stores."""
    image = compiled(VICTIM)
    _, _, store = patched_victim()
    wanted = bytearray(store)
    for register in range(256):
        wanted[4] = register
        if register != STORE_REGISTER and bytes(wanted) in image:
            return register
    raise SystemExit("the store of the unchanged victim was not found")


class Gpu:
    """Calls the part of CUDA's driver interface that the measurement needs."""

    def __init__(self) -> None:
        self._cuda = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self._check("cuInit", 0)
        self._check("cuDeviceGet", ctypes.byref(device), 0)
        self._check("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self._check("cuCtxSetCurrent", context)
        self.memory = ctypes.c_uint64()
        self._check("cuMemAlloc_v2", ctypes.byref(self.memory), ctypes.c_size_t(4096))

    def _check(self, name: str, *arguments: Any) -> None:
        if status := getattr(self._cuda, name)(*arguments):
            raise SystemExit(f"{name}: CUDA error {status}")

    def kernel(self, image: bytes, name: str) -> ctypes.c_void_p:
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self._check("cuModuleLoadData", ctypes.byref(module), image)
        self._check("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def run(self, kernel: ctypes.c_void_p, *arguments: Any, blocks: int = 1) -> None:
        pointers = (ctypes.c_void_p * len(arguments))(
            *[ctypes.cast(ctypes.byref(argument), ctypes.c_void_p) for argument in arguments]
        )
        self._check("cuLaunchKernel", kernel, blocks, 1, 1, 1, 1, 1, 0, None, pointers, None)
        self._check("cuCtxSynchronize")

    def words(self, count: int) -> list[int]:
        values = (ctypes.c_uint64 * count)()
        self._check("cuMemcpyDtoH_v2", values, self.memory, ctypes.c_size_t(8 * count))
        return list(values)


def measure() -> dict[str, Any]:
    image, distance, store = patched_victim()
    gpu = Gpu()
    victim = gpu.kernel(image, "victim")
    tools = compiled(TOOLS)
    read, write = gpu.kernel(tools, "read_words"), gpu.kernel(tools, "write_word")
    big = compiled(big_text())

    def stored() -> int:
        gpu.run(victim, gpu.memory, ctypes.c_uint64(MARKER), blocks=VICTIM_BLOCKS)
        return gpu.words(1)[0]

    def code(at: int) -> bytes:
        gpu.run(read, gpu.memory, ctypes.c_uint64(at), ctypes.c_uint32(2))
        return struct.pack("<2Q", *gpu.words(2))

    address = stored()
    at = address + distance
    readable = code(at) == store
    changed = bytearray(store)
    changed[4] = marker_register()
    gpu.run(write, ctypes.c_uint64(at), ctypes.c_uint64(struct.unpack_from("<Q", changed)[0]))
    result: dict[str, Any] = {
        "code_is_readable": readable,
        "code_is_writable": code(at) == bytes(changed),
        "runs_changed_code_at_once": stored() == MARKER,
    }
    for k in range(BIG_KERNELS):
        gpu.run(gpu.kernel(big, f"big{k}"), gpu.memory, ctypes.c_float(1), blocks=BIG_BLOCKS)
    result["runs_changed_code_after_large_kernels"] = stored() == MARKER
    result["distance_of_code_from_the_first_allocation"] = address - gpu.memory.value
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    result = {"environment": environment(), **measure()}
    text = json.dumps(result, indent=1) + "\n"
    if arguments.out:
        arguments.out.write_text(text)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()

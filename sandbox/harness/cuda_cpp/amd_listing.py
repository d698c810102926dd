"""Disassembles AMD's code objects with ROCm's library "code object manager" (libamd_comgr), which
hipRTC itself needs.

    for symbol, text in listings(image, "hip:gfx942"):
        print(symbol, text)  # assembly as a compiler writes it: branches name labels

Names, values and layouts are those of amd_comgr.h. The image is untrusted, so only a candidate may
call this module. Not thread-safe."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
from collections.abc import Iterator
from pathlib import Path

# Newest version first. A PyTorch for ROCm brings the library under the last name.
LIBRARIES = ("libamd_comgr.so.3", "libamd_comgr.so.2", "libamd_comgr.so")
_KIND_SOURCE, _KIND_EXECUTABLE = 1, 8  # amd_comgr_data_kind_t
# amd_comgr_action_kind_t: DISASSEMBLE_EXECUTABLE_TO_SOURCE. Version 3 removed two values before it.
_DISASSEMBLE, _DISASSEMBLE_BEFORE_3 = 10, 12
_PADDING = ("s_nop", "s_code_end")  # opcodes
_SYMBOL = re.compile(r"^([A-Za-z_.$][\w.$]*):$")
# "\ts_cbranch_scc1 59    // 000000001E20: BF85003B  <_Z3add+0x110>"
_LINE = re.compile(
    r"^\s+(?P<opcode>[a-z]\S*)(?P<operands>[^/]*?)\s*// (?P<address>[0-9A-F]+): (?P<code>[0-9A-F]+)"
    r"(?:[^<]*<(?P<symbol>\S+?)(?:\+0x(?P<offset>[0-9A-Fa-f]+))?>)?"
)


class ListingError(Exception):
    """The library is missing, or it refused the image."""


class _Handle(ctypes.Structure):
    _fields_ = (("handle", ctypes.c_uint64),)


def listings(image: bytes, target: str) -> Iterator[tuple[str, str]]:
    """Yields the name and the assembly of each function of the code object. Raises ListingError."""
    return split(_Comgr().disassembled(image, target))


def split(text: str) -> Iterator[tuple[str, str]]:
    """Splits a disassembly of a whole code object into its functions, and writes the targets of
    branches as labels."""
    symbol, lines = "", list[re.Match[str]]()  # the lines of the function `symbol`
    for line in [*text.splitlines(), "end:"]:
        if found := _SYMBOL.match(line):
            if lines and not symbol.startswith("."):
                yield symbol, _assembly(symbol, lines)
            symbol, lines = found[1], []
        elif instruction := _LINE.match(line):
            lines.append(instruction)


def _assembly(symbol: str, lines: list[re.Match[str]]) -> str:
    while lines and (lines[-1]["opcode"] in _PADDING or int(lines[-1]["code"], 16) == 0):
        lines.pop()  # what lies between two functions
    begin = int(lines[0]["address"], 16) if lines else 0
    branches = {line["address"]: _offset(line) for line in lines if line["symbol"] == symbol}
    targets = set(branches.values())
    text = [f"{symbol}:"]
    for line in lines:
        offset = int(line["address"], 16) - begin
        if offset in targets:
            text.append(f".L{offset:x}:")
        to = branches.get(line["address"])
        text.append(f"  {line['opcode']}" + (line["operands"] if to is None else f" .L{to:x}"))
    return "\n".join(text) + "\n"


def _offset(branch: re.Match[str]) -> int:
    return int(branch["offset"] or "0", 16)


class _Comgr:
    def __init__(self) -> None:
        self._library = _open()
        major, minor = ctypes.c_size_t(), ctypes.c_size_t()
        self._library.amd_comgr_get_version(ctypes.byref(major), ctypes.byref(minor))
        self._action = _DISASSEMBLE if major.value >= 3 else _DISASSEMBLE_BEFORE_3

    def disassembled(self, image: bytes, target: str) -> str:
        data, given, made, action, result = (_Handle() for _ in range(5))
        isa = f"amdgcn-amd-amdhsa--{target.partition(':')[2]}"
        self._call("create_data", _KIND_EXECUTABLE, ctypes.byref(data))
        self._call("set_data", data, ctypes.c_size_t(len(image)), image)
        self._call("set_data_name", data, b"kernel")
        self._call("create_data_set", ctypes.byref(given))
        self._call("create_data_set", ctypes.byref(made))
        self._call("data_set_add", given, data)
        self._call("create_action_info", ctypes.byref(action))
        self._call("action_info_set_isa_name", action, isa.encode())
        try:
            self._call("do_action", self._action, action, given, made)
            self._call(
                "action_data_get_data", made, _KIND_SOURCE, ctypes.c_size_t(0), ctypes.byref(result)
            )
            size = ctypes.c_size_t()
            self._call("get_data", result, ctypes.byref(size), None)
            text = ctypes.create_string_buffer(size.value)
            self._call("get_data", result, ctypes.byref(size), text)
            self._call("release_data", result)
        finally:
            self._call("destroy_action_info", action)
            self._call("destroy_data_set", given)
            self._call("destroy_data_set", made)
            self._call("release_data", data)
        return text.raw[: size.value].decode("utf-8", "replace")

    def _call(self, name: str, *arguments: object) -> None:
        status = getattr(self._library, f"amd_comgr_{name}")(*arguments)
        if status != 0:
            raise ListingError(f"amd_comgr_{name} failed with status {status}")


def _open() -> ctypes.CDLL:
    # hipRTC may have loaded the library already.
    for name in LIBRARIES:
        try:
            return ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        except OSError:
            continue
    torch = importlib.util.find_spec("torch")
    folder = Path(torch.origin).parent / "lib" if torch is not None and torch.origin else None
    problem = ""
    for name in LIBRARIES:
        for path in (folder / name if folder is not None else None, Path(name)):
            if path is None or (path.is_absolute() and not path.exists()):
                continue
            try:
                return ctypes.CDLL(str(path))
            except OSError as error:
                problem = str(error)
    raise ListingError(f"there is no libamd_comgr, which disassembles kernels ({problem})")

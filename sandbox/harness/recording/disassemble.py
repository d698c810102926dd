"""Disassemble mode of a candidate: prints the binaries of a launch plan as text. This candidate
never sees the submission that made the binaries. But the binaries are untrusted bytes, so an
untrusted process must read them.

    for name, text in disassemblies(plan_bytes, folder):
        print(name, text)

This mode supports only NVIDIA. Triton's package contains no disassembler for AMD's binaries; their
assembly text is part of the recording instead."""

from __future__ import annotations

import os
import select
import struct
import subprocess
import time
from collections.abc import Iterator

from harness.recording.plan import MAGIC
from harness.triton_adapter import nvdisasm

MAX_KERNELS = 16  # per plan; a plan with autotuned kernels can have more
MAX_TEXT_BYTES = 4 << 20  # per kernel
TOOL_WALL_S = 30.0  # per kernel
READ_BYTES = 1 << 16


class BrokenPlan(ValueError):
    """The bytes are not a launch plan."""


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def bytes(self, size: int) -> bytes:
        if size > len(self._data) - self._at:
            raise BrokenPlan(
                f"the plan ends at {len(self._data)}, inside of the field that begins at {self._at}"
            )
        self._at += size
        return self._data[self._at - size : self._at]

    def number(self, form: str) -> int:
        return int(struct.unpack("<" + form, self.bytes(struct.calcsize("<" + form)))[0])

    def text(self) -> str:
        return self.bytes(self.number("I")).decode("utf-8", "replace")


def binaries(plan: bytes) -> Iterator[tuple[str, bytes]]:
    """Yields the name and the binary of each kernel. Raises BrokenPlan."""
    reader = _Reader(plan)
    if reader.bytes(len(MAGIC)) != MAGIC:
        raise BrokenPlan("it does not begin like a launch plan")
    reader.number("I")  # skips the version; the parts read here are the same in all versions
    reader.text()
    for _ in range(reader.number("I")):
        reader.number("B")
        reader.number("Q")
        reader.text()
        reader.bytes(reader.number("Q"))
    for _ in range(reader.number("I")):
        name = reader.text()
        reader.number("I")
        yield name, reader.bytes(reader.number("Q"))


def _read(descriptor: int) -> tuple[bytes, bool]:
    """Reads at most MAX_TEXT_BYTES within TOOL_WALL_S. Also returns whether the time was over before
    the end of the text."""
    until = time.monotonic() + TOOL_WALL_S
    text = bytearray()
    while len(text) < MAX_TEXT_BYTES:
        left = until - time.monotonic()
        if left <= 0 or not select.select([descriptor], [], [], left)[0]:
            return bytes(text), True
        part = os.read(descriptor, min(READ_BYTES, MAX_TEXT_BYTES - len(text)))
        if not part:
            break
        text += part
    return bytes(text), False


def disassemblies(plan: bytes, folder: str) -> Iterator[tuple[str, bytes]]:
    """Yields the name and the disassembly of the first MAX_KERNELS kernels. The disassembly
    includes line information."""
    path = os.path.join(folder, "kernel.cubin")
    command = [nvdisasm(), "--print-code", "--print-line-info", path]
    for index, (name, image) in enumerate(binaries(plan)):
        if index == MAX_KERNELS:
            return
        with open(path, "wb") as stream:
            stream.write(image)
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as tool:
            assert tool.stdout is not None
            text, is_late = _read(tool.stdout.fileno())
            tool.kill()  # ends the tool if a limit was reached
            tool.wait(TOOL_WALL_S)
        if is_late:
            text += f"\nthe disassembler was stopped after {TOOL_WALL_S:g} s\n".encode()
        yield name, text

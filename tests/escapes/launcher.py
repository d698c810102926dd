"""Runs an assay-launcher process with the fake driver. A test takes the supervisor's place and
sends frames to the launcher. The frames contain plans. A hostile device image could take over the
driver's code and make system calls. So a plan can make the fake driver do system calls.

    with Launcher(folder) as launcher:
        launcher.ready()
        answer, outputs = launcher.launch(vector_add())
        number, rooms = launcher.system_call(GETUID)          # a mutation build only

A server starts launchers only if there is a GPU. That is why the tests start a launcher directly."""

from __future__ import annotations

import fcntl
import mmap
import os
import socket
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from harness.recording.plan import Binary, Buffer, BufferKind, Kernel, Output, Plan, Pointer, Scalar
from harness.wire.frames import Channel, Frame, FrameError

TARGET = "cuda:90"
ANSWER_S = 120.0
OUTPUT_BYTES = 1 << 16
GPU_MEMORY_BYTES = 32 << 30
ONE = (1, 1, 1)
# The smallest device binary: an ELF header of 64 bytes without tables.
IMAGE = b"\x7fELF\x02\x01" + bytes(58)
SYSTEM_CALL = "fake_system_call"  # sandbox/launcher/driver/fake_driver.h
ARGUMENTS = 6
ADDRESS_SPACE = 1 << 64


class Room(int):
    """The size in bytes of a buffer whose address is an argument of a system call. The launcher
    allocates the buffer, and returns its contents after the call."""


def kernel_plan(kernel: str) -> Plan:
    """Returns a plan with one launch of a kernel without parameters. The plan has an output, which
    no kernel writes."""
    plan = Plan(TARGET)
    room = plan.buffer(BufferKind.SCRATCH, 8)
    plan.binaries.append(Binary(kernel, 0, IMAGE))
    plan.ops.append(Kernel(0, ONE, ONE, ONE, 0, []))
    plan.outputs.append(Output(room, 0, "int64", [1], [1]))
    return plan


def vector_add(count: int = 64) -> Plan:
    """Returns a plan that adds a vector of ones and a vector of twos."""
    plan = kernel_plan("fake_vector_add")
    x, y = (
        plan.buffer(BufferKind.CONSTANT, 4 * count, "", struct.pack("<f", value) * count)
        for value in (1.0, 2.0)
    )
    plan.buffers[0] = Buffer(BufferKind.SCRATCH, 4 * count)
    plan.ops = [
        Kernel(0, ONE, ONE, ONE, 0, [Pointer(x, 0), Pointer(y, 0), Pointer(0, 0), Scalar(4, count)])
    ]
    plan.outputs = [Output(0, 0, "float32", [count], [1])]
    return plan


def _system_call_plan(number: int, arguments: Sequence[int | bytes]) -> Plan:
    plan = kernel_plan(SYSTEM_CALL)
    params: list[Pointer | Scalar] = [Pointer(0, 0), Scalar(8, number)]
    for argument in [*arguments, *[0] * (ARGUMENTS - len(arguments))]:
        if isinstance(argument, Room):
            room = plan.buffer(BufferKind.SCRATCH, argument)
            plan.outputs.append(Output(room, 0, "uint8", [int(argument)], [1]))
            params.append(Pointer(room, 0))
        elif isinstance(argument, bytes):
            params.append(Pointer(plan.buffer(BufferKind.CONSTANT, len(argument), "", argument), 0))
        else:
            params.append(Scalar(8, argument % ADDRESS_SPACE))
    plan.ops = [Kernel(0, ONE, ONE, ONE, 0, list(params))]
    return plan


class Launcher:
    """Runs the launcher of the build in `folder`. The launcher inherits the descriptors `leaked`,
    as if by mistake. A mutation build leaves out the isolation layers in `without`."""

    def __init__(
        self,
        folder: Path,
        driver: str = "fake",
        options: Sequence[str] = (),
        leaked: Sequence[int] = (),
        without: str = "",
    ) -> None:
        ours, theirs = socket.socketpair()
        ours.settimeout(ANSWER_S)
        command = [
            str(folder / "assay-launcher"),
            "--socket-fd",
            str(theirs.fileno()),
            "--device",
            "0",
            "--driver",
            driver,
            *options,
        ]
        command += ["--without", without] if without else []
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            command, pass_fds=[theirs.fileno(), *leaked], stderr=self._log
        )
        theirs.close()
        self._channel = Channel(ours)
        ours.settimeout(ANSWER_S)

    def __enter__(self) -> Launcher:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.process.wait()
        self._channel.close()
        self._log.close()

    def words(self) -> str:
        """Returns what the launcher wrote to stderr."""
        self._log.seek(0)
        return self._log.read()

    def ready(self) -> dict[str, Any]:
        return self._receive("ready").header

    def send(self, plan: bytes, gpu_memory_bytes: int = GPU_MEMORY_BYTES) -> int:
        """Sends one launch. Returns the descriptor of the outputs' file. The caller must close it."""
        output = os.memfd_create("outputs", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(output, OUTPUT_BYTES)
        fcntl.fcntl(output, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        rules = {
            "ablated": False,
            "time": False,
            "min_samples": 1,
            "max_samples": 1,
            "max_time_ms": 1_000,
            "gpu_memory_bytes": gpu_memory_bytes,
        }
        places = {
            "inputs": [],
            "output_fd": 0,
            "output_offset": 0,
            "output_bytes": OUTPUT_BYTES,
            "device_bytes": 0,
        }
        self._channel.send({"type": "launch", "case": "c", **places, **rules}, plan, [output])
        return output

    def launch(
        self, plan: Plan | bytes, gpu_memory_bytes: int = GPU_MEMORY_BYTES
    ) -> tuple[dict[str, Any], list[bytes]]:
        """Sends one launch. Returns the launcher's answer and the bytes of each output."""
        output = self.send(plan if isinstance(plan, bytes) else plan.encode(), gpu_memory_bytes)
        try:
            answer = self._receive().header
            with mmap.mmap(output, OUTPUT_BYTES) as memory:
                return answer, [
                    memory[at["offset"] : at["offset"] + at["nbytes"]]
                    for at in answer.get("outputs", [])
                ]
        finally:
            os.close(output)

    def system_call(self, number: int, *arguments: int | bytes) -> tuple[int, list[bytes]]:
        """Makes a system call in the launcher. Returns its result or the negative error, and the
        contents of each Room after the call."""
        answer, (result, *rooms) = self.launch(_system_call_plan(number, arguments))
        assert answer["type"] == "launched", answer
        return int.from_bytes(result, "little", signed=True), rooms

    def _receive(self, kind: str | None = None) -> Frame:
        frame = self._channel.receive()
        if frame is None:
            raise FrameError(
                f"the launcher ended with status {self.process.wait()}: {self.words()}"
            )
        assert kind is None or frame.type == kind, frame.header
        return frame

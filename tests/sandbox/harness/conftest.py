"""A miniature supervisor for tests: it starts a real zygote, sends jobs to candidates, and collects
their messages."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch
from harness.wire.argument import scalar_wire
from harness.wire.frames import Channel, Frame
from harness.wire.tensors import aligned, create_memfd, make_memfd, pack, span_bytes

sys.path.insert(0, os.path.dirname(__file__))
from judge_client import JudgeClient, write_operator

ROOT = Path(__file__).resolve().parents[3]
MAIN = ROOT / "sandbox" / "harness" / "main.py"
GUARD_SOURCE = """
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/FakeGuardImpl.h>
extern "C" __attribute__((visibility("default"))) int assay_register_fake_cuda_guard() {
  auto& slot = c10::impl::device_guard_impl_registry[static_cast<size_t>(c10::DeviceType::CUDA)];
  if (slot.load() != nullptr) return 0;
  slot.store(new c10::impl::FakeGuardImpl<c10::DeviceType::CUDA>());
  return 1;
}
"""


@pytest.fixture(scope="session")
def guard_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder that contains the fake CUDA guard: the built guard, or one that is compiled
    for the tests."""
    name = "libassay_fake_cuda_guard.so"
    for built in (ROOT / "build").glob(f"*/**/{name}"):
        if not any(part in ("asan", "tsan") for part in built.parts):
            folder = tmp_path_factory.mktemp("guard")
            shutil.copy(built, folder / name)
            return folder
    folder = tmp_path_factory.mktemp("guard")
    source = folder / "guard.cc"
    source.write_text(GUARD_SOURCE)
    base = Path(torch.__file__).parent
    command = [
        "g++",
        "-std=c++20",
        "-shared",
        "-fPIC",
        "-O1",
        str(source),
        "-o",
        str(folder / name),
        f"-I{base}/include",
        f"-L{base}/lib",
    ]
    subprocess.run([*command, "-lc10", f"-Wl,-rpath,{base}/lib"], check=True)
    return folder


@pytest.fixture(scope="module")
def judge() -> Iterator[JudgeClient]:
    client = JudgeClient()
    yield client
    client.channel.close()
    assert client.process.wait(timeout=120) == 0


@pytest.fixture
def operator(tmp_path: Path) -> Path:
    return write_operator(tmp_path / "axpy")


@dataclass
class Report:
    """Everything that a candidate has sent, and how the candidate ended."""

    parked: dict[str, Any]
    frames: list[Frame] = field(default_factory=list)
    stdout: str = ""
    stderr: str = ""
    exited: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, list[torch.Tensor]] = field(default_factory=dict)
    broken: str = ""

    def types(self) -> list[str]:
        return [frame.type for frame in self.frames]

    def one(self, kind: str) -> Frame:
        found = [frame for frame in self.frames if frame.type == kind]
        assert len(found) == 1, (
            f"want one {kind} in {self.types()}: {[f.header for f in self.frames]}\n{self.stdout}{self.stderr}"
        )
        return found[0]

    def error(self) -> dict[str, Any]:
        return self.one("error").header


class Supervisor:
    """Owns one zygote process."""

    def __init__(self, env: dict[str, str]) -> None:
        ours, theirs = socket.socketpair()
        command = [sys.executable, str(MAIN), "zygote", "--control-fd", str(theirs.fileno())]
        clean = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("ASSAY_", "TRITON_"))
        }
        # The jail removes the temporary folders of candidates. Here there is no jail, so this
        # object removes them.
        self.scratch = tempfile.TemporaryDirectory(prefix="assay-zygote-")
        self.process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], env={**clean, "TMPDIR": self.scratch.name, **env}
        )
        theirs.close()
        self.control = Channel(ours)
        ready = self.control.receive()
        assert ready is not None and ready.type == "ready"
        self.ready = ready.header
        self.slots = 0

    def fork(self) -> tuple[Channel, int, int, int, int]:
        """Forks a candidate. Returns (job channel, stdout, stderr, pid, slot)."""
        ours, theirs = socket.socketpair()
        out_read, out_write = os.pipe()
        err_read, err_write = os.pipe()
        self.slots += 1
        self.control.send(
            {"type": "fork", "slot": self.slots}, fds=[theirs.fileno(), out_write, err_write]
        )
        theirs.close()
        os.close(out_write)
        os.close(err_write)
        forked = self.control.receive()
        assert (
            forked is not None and forked.type == "forked" and forked.header["slot"] == self.slots
        )
        assert len(forked.fds) == 1
        forked.close()
        return Channel(ours), out_read, err_read, int(forked.header["pid"]), self.slots

    def run(
        self,
        source: str,
        entry: str,
        cases: list[dict[str, Any]],
        mode: str = "interpret",
        **options: Any,
    ) -> Report:
        channel, out, err, _, slot = self.fork()
        parked = channel.receive()
        assert parked is not None and parked.type == "parked"
        report = Report(parked.header)
        wires, fds = (
            zip(*[encode_case(case, mode, 2 * i) for i, case in enumerate(cases)], strict=True)
            if cases
            else ((), ())
        )
        flat = [fd for pair in fds for fd in pair]
        job = {
            "type": "job",
            "mode": mode,
            "entry": entry,
            "dialect": "triton",
            "target": "cuda:90",
            "artifacts": False,
            "alternatives": True,
        }
        run_limit = {key: options.pop(key) for key in ("run_wall_ms",) if key in options}
        channel.send({**job, **options}, source.encode())
        try:
            for frame in channel:
                if frame.type == "imported":
                    channel.send(
                        {"type": "cases", "cases": list(wires), "last": True, **run_limit}, fds=flat
                    )
                if frame.type != "parsed":
                    report.frames.append(frame)
        except Exception as error:
            report.broken = f"{type(error).__name__}: {error}"
        channel.close()
        report.stdout, report.stderr = drain(out), drain(err)
        exited = self.control.receive()
        assert exited is not None and exited.type == "exited" and exited.header["slot"] == slot
        report.exited = exited.header
        from harness.wire.tensors import MappedFile

        for frame in report.frames:
            if frame.type == "case" and "outputs" in frame.header:
                at = next(i for i, case in enumerate(cases) if case["id"] == frame.header["id"])
                with MappedFile(fds[at][1], writable=False) as memory:
                    report.outputs[frame.header["id"]] = [
                        memory.tensor(wire).clone() for wire in frame.header["outputs"]
                    ]
        for fd in flat:
            os.close(fd)
        return report

    def close(self) -> int:
        self.control.close()
        status = self.process.wait(timeout=120)
        self.scratch.cleanup()
        return status


def drain(fd: int) -> str:
    with os.fdopen(fd, "rb") as stream:
        return stream.read().decode("utf-8", "replace")


def encode_case(
    case: dict[str, Any], mode: str, first_fd: int
) -> tuple[dict[str, Any], tuple[int, int]]:
    """Encodes a case. The keys of `case` are: id, arguments (name to value), and optionally
    structural, inout, outputs, output_from, output_bytes, axes, output_tensors."""
    structural = case.get("structural", [])
    tensors = [
        (name, value)
        for name, value in case["arguments"].items()
        if isinstance(value, torch.Tensor)
    ]
    with_bytes = [pair for pair in tensors if mode != "record" or pair[0] in structural]
    fd, wires = make_memfd("inputs", with_bytes)
    by_name = {wire["name"]: {**wire, "fd": first_fd} for wire in wires}
    for wire in pack(tensors)[0]:
        by_name.setdefault(wire["name"], wire)
    arguments = []
    for name, value in case["arguments"].items():
        if isinstance(value, torch.Tensor):
            arguments.append(by_name[name])
        else:
            arguments.append(scalar_wire(name, value))
    total = sum(aligned(span_bytes(t.shape, t.stride(), t.element_size())) for _, t in tensors)
    size = case.get("output_bytes", max(4096, 4 * total))
    output = create_memfd("outputs", size)
    outputs = case.get("outputs", 1)
    wire = {
        "id": case["id"],
        "arguments": arguments,
        "structural": structural,
        "inout": case.get("inout", []),
        "outputs": outputs,
        "output_from": case.get("output_from", [None] * outputs),
        "output_fd": first_fd + 1,
        "output_bytes": size,
        **{key: case[key] for key in ("axes", "output_tensors") if key in case},
    }
    return wire, (fd, output)


@pytest.fixture(scope="session")
def supervisor(guard_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Supervisor]:
    """Returns one zygote that all tests share. It runs without the native job jail, because the
    test does not set ASSAY_NATIVE_DIR. If this variable were set, the zygote would need the module
    `_native`."""
    running = Supervisor({"ASSAY_FAKE_CUDA_GUARD": str(guard_dir / "libassay_fake_cuda_guard.so")})
    yield running
    assert running.close() == 0

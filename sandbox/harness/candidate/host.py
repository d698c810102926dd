"""Host mode of a candidate: the entry function runs inside the jail with access to the GPU. This
mode is for submissions that cannot be recorded.

    runner = HostRunner(header, cache_dir, fds)  # once, before the submission is imported
    with runner.context():
        import_submission()
    reply = runner.run_case(case, entry)  # the judge sends rounds (rounds.py) and ends them

The judge trusts no message of this process. The judge starts its clock when it sends the inputs,
and reads the outputs when this process reports that they are complete. If the job's device is `cpu`
(only in tests), the entry runs as in interpret mode."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from triton.runtime.jit import JITFunction

from harness import triton_adapter
from harness.entry.cases import CaseInput, collect_outputs
from harness.entry.errors import BadOutputs
from harness.interpreting.interpret import CudaOnCpu, InterpretRunner
from harness.wire import shared_memory
from harness.wire.argument import scalar_value
from harness.wire.frames import FrameError
from harness.wire.rounds import CandidateLine, SetLayout, lay_out
from harness.wire.tensors import Memory, contiguous, dtype_from, name_of


def _launch_nothing(*_: Any, **__: Any) -> None:
    """Does nothing. In an ablated run, this function replaces the launch of every kernel, including
    autotuned kernels. If the outputs are right although no kernel ran, the kernels did not compute
    them."""


class HostRunner:
    """Runs the entry in rounds, which the judge starts (see the module's docstring)."""

    stage = "run"

    def __init__(self, header: dict[str, Any], cache_dir: str, fds: Sequence[int]) -> None:
        line = header.get("rounds_fd")
        if not isinstance(line, int) or not 0 <= line < len(fds):
            raise FrameError("a host job needs `rounds_fd`, the socket to the judge")
        self._line = CandidateLine(socket.socket(fileno=os.dup(fds[line])))
        self._device = (
            torch.device("cuda", 0) if header.get("device") == "cuda" else torch.device("cpu")
        )
        # The judge's references do not use TF32, but torch uses it for convolutions by default. So a
        # plain convolution of torch would be wrong. A submission may still turn TF32 on.
        torch.backends.cudnn.allow_tf32 = False
        if self._device.type == "cuda":
            os.environ["TRITON_CACHE_DIR"] = cache_dir
            total = torch.cuda.get_device_properties(self._device).total_memory
            torch.cuda.set_per_process_memory_fraction(
                min(1.0, int(header["gpu_memory_bytes"]) / total), self._device
            )
            if header.get("ablated"):
                JITFunction.run = _launch_nothing  # type: ignore[method-assign]
        else:
            InterpretRunner(cache_dir)
            if header.get("ablated"):
                triton_adapter.launch_nothing()

    @contextlib.contextmanager
    def context(self) -> Iterator[None]:
        with (
            torch.no_grad(),
            contextlib.nullcontext() if self._device.type == "cuda" else CudaOnCpu(),
        ):
            yield

    def run_case(self, case: CaseInput, entry: Callable[..., Any]) -> tuple[dict[str, Any], bytes]:
        layout = lay_out(case.arguments, case.output_tensors)
        while (received := self._line.wait()) is not None:
            go, fd = received
            memory = shared_memory.attach(self._device, fd, go.size)
            os.close(fd)
            for position in range(go.sets):
                self._run_set(case, entry, layout, memory.bytes[position * layout.size :])
            if self._device.type == "cuda":
                torch.cuda.synchronize(self._device)
            self._line.done()
            memory.free()
        return {"type": "case", "id": case.id, "notes": []}, b""

    def artifacts(self) -> Iterator[tuple[str, str, bytes]]:
        """Yields no artifacts, because compiled code stays in this process."""
        yield from ()

    def _run_set(
        self, case: CaseInput, entry: Callable[..., Any], layout: SetLayout, flat: torch.Tensor
    ) -> None:
        memory = Memory(flat)
        arguments: dict[str, Any] = {}
        for wire in case.arguments:
            name = wire["name"]
            arguments[name] = (
                scalar_value(wire)
                if wire["kind"] == "scalar"
                else memory.tensor({**wire, "offset": layout.inputs[name]})
            )
        with self.context():
            returned = entry(*arguments.values())
        outputs = collect_outputs(case, returned, arguments)
        for position, (output, wire, offset) in enumerate(
            zip(outputs, case.output_tensors, layout.outputs, strict=True)
        ):
            if type(output) not in (torch.Tensor, torch.nn.Parameter):
                raise BadOutputs(
                    f"output {position} is a {type(output).__name__}; want a plain torch.Tensor"
                )
            if output.dtype != dtype_from(wire["dtype"]) or list(output.shape) != wire["shape"]:
                got = f"{name_of(output.dtype)} {list(output.shape)}"
                raise BadOutputs(
                    f"output {position} ({wire['name']}) is {got}; want {wire['dtype']} {wire['shape']}"
                )
            if output.device.type != self._device.type:
                raise BadOutputs(
                    f"output {position} is on {output.device}; return it on the device of the inputs"
                )
            if offset is not None:
                memory.tensor(contiguous(wire, offset)).copy_(output)

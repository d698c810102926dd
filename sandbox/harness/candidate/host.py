"""Host mode of a candidate: the entry function runs inside the jail with access to the GPU. This
mode is for submissions that cannot be recorded.

    runner = HostRunner(header, cache_dir, fds)  # once, before the submission is imported
    with runner.context():
        import_submission()
    reply = runner.run_case(case, entry)  # the judge sends rounds (rounds.py) and ends them

In an ablated run, the submission runs as usual. Besides its outputs, it returns what they would be
without the results of its kernels (shadows.py), and without what torch computes (origins.py). In an
idle run, launches of kernels do nothing.

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

from harness import triton_adapter
from harness.candidate.origins import Origin, Origins
from harness.candidate.shadows import Shadows
from harness.candidate.storages import laid_over
from harness.entry.cases import CaseInput, collect_outputs
from harness.entry.errors import BadOutputs
from harness.interpreting.interpret import CudaOnCpu, InterpretRunner
from harness.wire import shared_memory
from harness.wire.argument import scalar_value
from harness.wire.frames import FrameError
from harness.wire.rounds import (
    ABLATED_SETS,
    BY_KERNELS,
    OF_TORCH,
    ORIGIN_SETS,
    CandidateLine,
    SetLayout,
    lay_out,
)
from harness.wire.tensors import Memory, contiguous, dtype_from, name_of, span_view


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
        self._shadows = Shadows() if header.get("ablated") else None
        self._origins = Origins(self._shadows) if self._shadows else None
        if self._device.type == "cuda":
            os.environ["TRITON_CACHE_DIR"] = cache_dir
            total = torch.cuda.get_device_properties(self._device).total_memory
            allowed = min(1.0, int(header["gpu_memory_bytes"]) / total)
            torch.cuda.set_per_process_memory_fraction(allowed, self._device)
            if header.get("idle"):
                triton_adapter.launch_nothing_compiled()
            elif self._shadows:
                triton_adapter.watch_compiled(self._launch)
        else:
            InterpretRunner(cache_dir)
            if header.get("idle"):
                triton_adapter.launch_nothing_interpreted()
            elif self._shadows:
                triton_adapter.watch_interpreted(self._launch)

    @contextlib.contextmanager
    def context(self) -> Iterator[None]:
        with (
            torch.no_grad(),
            contextlib.nullcontext() if self._device.type == "cuda" else CudaOnCpu(),
            contextlib.nullcontext() if self._shadows is None else self._shadows.watching(),
            contextlib.nullcontext() if self._origins is None else self._origins.watching(),
        ):
            yield

    @contextlib.contextmanager
    def _launch(self, arguments: Any) -> Iterator[Any]:
        """The context of a launch in an ablated run. The launches of several threads happen one
        after the other."""
        assert self._shadows is not None
        followed = self._shadows if self._origins is None else self._origins
        with self._shadows.alone, followed.launch(arguments) as given:
            yield given

    def run_case(self, case: CaseInput, entry: Callable[..., Any]) -> tuple[dict[str, Any], bytes]:
        layout = lay_out(case.arguments, case.output_tensors)
        while (received := self._line.wait()) is not None:
            go, fd = received
            memory = shared_memory.attach(self._device, fd, go.size)
            os.close(fd)
            sets = [memory.bytes[position * layout.size :] for position in range(go.sets)]
            if self._shadows:
                self._run_with_shadows(case, entry, layout, sets)
            else:
                for flat in sets:
                    outputs = self._call(case, entry, self._arguments(case, layout, Memory(flat)))
                    self._write(case, layout, Memory(flat), outputs)
            if self._device.type == "cuda":
                torch.cuda.synchronize(self._device)
            self._line.done()
            memory.free()
        return {"type": "case", "id": case.id, "notes": []}, b""

    def artifacts(self) -> Iterator[tuple[str, str, bytes]]:
        """Yields no artifacts, because compiled code stays in this process."""
        yield from ()

    def _run_with_shadows(
        self,
        case: CaseInput,
        entry: Callable[..., Any],
        layout: SetLayout,
        sets: Sequence[torch.Tensor],
    ) -> None:
        """Runs the entry once. Writes its outputs into the first set, and into the second set what
        they would be without the results of its kernels. If there is a last set, writes into it
        which outputs do not depend on what torch computes. Both first sets have the same inputs.
        The entry gets copies of them, because the memory of a round does not outlive it, and a
        shadow may."""
        if len(sets) not in (ABLATED_SETS, ORIGIN_SETS):
            want = f"{ABLATED_SETS} or {ORIGIN_SETS}"
            raise FrameError(f"an ablated round has {want} sets, and not {len(sets)}")
        if len(sets) == ABLATED_SETS:
            self._origins = None  # the operator lets torch compute
        assert self._shadows is not None
        arguments = {
            name: value if not isinstance(value, torch.Tensor) else _copy_of(value)
            for name, value in self._arguments(case, layout, Memory(sets[0])).items()
        }
        given = {name: one for name, one in arguments.items() if isinstance(one, torch.Tensor)}
        self._shadows.memory.note(*given.values())
        if self._origins is not None:
            structural = [given.pop(name) for name in case.structural if name in given]
            self._origins.give(given.values(), structural)
        returned = self._call(case, entry, arguments)
        # Something may still write to the outputs. So only private copies count from here on.
        without = [self._shadows.view(output) for output in returned]
        contents = [self._shadows.contents(output) for output in returned]
        outputs = [laid_over(*pair) for pair in zip(returned, contents, strict=True)]
        without = [
            output if one is before else one
            for before, one, output in zip(returned, without, outputs, strict=True)
        ]
        self._write(case, layout, Memory(sets[0]), outputs, copied=True)
        self._write(case, layout, Memory(sets[1]), without, copied=True)
        if self._origins is None:
            return
        for position, pair in enumerate(zip(returned, contents, strict=True)):
            of_torch = self._origins.origin(*pair) is Origin.TORCH
            sets[-1][position] = OF_TORCH if of_torch else BY_KERNELS

    def _arguments(self, case: CaseInput, layout: SetLayout, memory: Memory) -> dict[str, Any]:
        return {
            wire["name"]: scalar_value(wire)
            if wire["kind"] == "scalar"
            else memory.tensor({**wire, "offset": layout.inputs[wire["name"]]})
            for wire in case.arguments
        }

    def _call(
        self, case: CaseInput, entry: Callable[..., Any], arguments: dict[str, Any]
    ) -> list[torch.Tensor]:
        """Returns the outputs of the entry. Raises BadOutputs."""
        with self.context():
            returned = entry(*arguments.values())
            outputs = collect_outputs(case, returned, arguments)
        for position, (output, wire) in enumerate(zip(outputs, case.output_tensors, strict=True)):
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
        return outputs

    def _write(
        self,
        case: CaseInput,
        layout: SetLayout,
        memory: Memory,
        outputs: Sequence[torch.Tensor],
        copied: bool = False,
    ) -> None:
        """Writes the outputs into the memory of a set. An output that is an argument is there
        already, unless the entry got a copy of this argument (`copied`)."""
        wires = {wire["name"]: wire for wire in case.arguments}
        for output, wire, offset in zip(outputs, case.output_tensors, layout.outputs, strict=True):
            if offset is not None:
                memory.tensor(contiguous(wire, offset)).copy_(output)
            elif copied:
                name = wire["from"]
                place = {**wires[name], "offset": layout.inputs[name]}
                memory.tensor(place).copy_(output)


def _copy_of(tensor: torch.Tensor) -> torch.Tensor:
    """Copies the memory, not the elements, because several elements may lie in one place."""
    copied = span_view(tensor).clone().untyped_storage()
    return laid_over(tensor, copied, offset=0)

"""Interpret mode of a candidate: the entry runs on CPU tensors, and Triton's interpreter runs the
kernels.

    runner = InterpretRunner(cache_dir)  # once, before the submission is imported
    with runner.context():
        import_submission()
    reply = runner.run_case(case, entry)  # the case's output memfd then holds the outputs

Submissions are written for a GPU. Inside `context`, the device `cuda` in any torch call means the
CPU, tensors report that they are on `cuda:0`, and new allocations are filled with a poison value.
Operations that a launch plan could not contain are refused (host_watch.py). If a kernel accesses
memory that belongs to no tensor, an error is raised (bounds.py). bfloat16 is refused, because the
interpreter computes it incorrectly without an error.

If `ablated` is true, the reply has the outputs without the results of the kernels; otherwise it has
the outputs with these results (live_memory.py). The ordinary run and the ablated run are equal in
everything else: code, addresses, memory and time. The judge compares the outputs of both runs
(attribution.py).

If `reverse` is true, the programs of each grid run in reverse order, to find races
(program_order.py)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from harness import triton_adapter
from harness.entry import fake_cuda
from harness.entry.cases import CaseInput, collect_outputs
from harness.entry.errors import BadOutputs, UnsupportedHere
from harness.entry.refusals import Refusals
from harness.interpreting.bounds import Bounds
from harness.interpreting.host_watch import HostWatch
from harness.interpreting.layout_log import LayoutLog, View
from harness.interpreting.live_memory import FULL, WITHOUT, Block, LiveMemory
from harness.wire.argument import scalar_value
from harness.wire.tensors import NAMES, MappedFile, aligned, bits, descriptor

TARGET = "cuda:90"  # the target that host code sees
_CUDA = torch.device("cuda", 0)
_CPU = torch.device("cpu")


def _to_cpu(value: Any) -> Any:
    if isinstance(value, torch.device) and value.type == "cuda":
        return _CPU
    if isinstance(value, str) and (value == "cuda" or value.startswith("cuda:")):
        return "cpu"
    return value


class CudaOnCpu(TorchFunctionMode):
    """Maps every CUDA device to the CPU, and makes CPU tensors report that they are on `cuda:0`."""

    def __init__(self) -> None:
        super().__init__()
        self._placing = 0

    def placing(self) -> bool:
        """Returns True during a call that names a CUDA device."""
        return self._placing > 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        getter = (
            getattr(func, "__self__", None) if getattr(func, "__name__", "") == "__get__" else None
        )
        if getter is torch.Tensor.is_cuda:
            return True
        if getter is torch.Tensor.device:
            return _CUDA
        if func is torch.Tensor.get_device:
            return 0
        if func is torch.Tensor.cuda:
            return args[0]
        if func is torch.Tensor.pin_memory:
            return args[0]
        if func is torch.Tensor.to or "device" in kwargs:
            if isinstance(kwargs.get("device"), int):  # a device index means a GPU
                kwargs["device"] = _CUDA
            named = any(_to_cpu(value) is not value for value in (*args, *kwargs.values()))
            args = tuple(_to_cpu(arg) for arg in args)
            kwargs = {
                name: _to_cpu(value) for name, value in kwargs.items() if name != "pin_memory"
            }
            self._placing += named
            try:
                return func(*args, **kwargs)
            finally:
                self._placing -= named
        return func(*args, **kwargs)


def _dense(output: torch.Tensor) -> torch.Tensor:
    """Returns the output as a dense tensor. Calls the methods through torch.Tensor, because the
    submission may have replaced them on the output itself."""
    return torch.Tensor.contiguous(
        torch.Tensor.resolve_neg(torch.Tensor.resolve_conj(torch.Tensor.detach(output)))
    )


class InterpretRunner:
    """Runs the entry on CPU tensors (see the module's docstring)."""

    stage = "run"

    def __init__(self, cache_dir: str, ablated: bool = False, reverse: bool = False) -> None:
        fake_cuda.stub_functions(TARGET)
        triton_adapter.install_driver(TARGET, None, cache_dir)
        triton_adapter.patch_autotuner(None, 0)
        triton_adapter.switch_to_interpreter()
        self._copy = WITHOUT if ablated else FULL
        self._refusals = Refusals()
        self._live = LiveMemory()
        self._log: LayoutLog[Block] = LayoutLog()
        self._devices = CudaOnCpu()
        self._watch = HostWatch(
            self._live,
            self._refusals,
            self._log,
            self._devices.placing,
        )
        bounds = Bounds(self._live, self._refusals, self._log)
        triton_adapter.check_accesses(bounds, self._refusals, reverse)

    def forget_refusals(self) -> None:
        """Forgets what an earlier submission was refused, in a process that runs several ones."""
        self._refusals.forget()

    @contextlib.contextmanager
    def context(self) -> Iterator[None]:
        """Returns the context in which user code runs. At its end it raises the first refusal, even
        if user code has caught it."""
        with self._refusals.deciding(), self._devices, self._watch, self._live.watching():
            yield

    def run_case(self, case: CaseInput, entry: Callable[..., Any]) -> tuple[dict[str, Any], bytes]:
        outputs = self.outputs_of(case, entry)
        return {
            "type": "case",
            "id": case.id,
            "outputs": self._write(case, outputs),
            "reordered": self._reordered(outputs),
            "notes": [],
        }, b""

    def device_values(self, output: torch.Tensor) -> torch.Tensor:
        """Returns an output of outputs_of() with the values that the kernels gave it."""
        return _dense(self._live.view(output, self._copy))

    def outputs_of(self, case: CaseInput, entry: Callable[..., Any]) -> list[torch.Tensor]:
        """Runs the entry and returns its outputs. Raises an error if a check of them fails."""
        arguments: dict[str, Any] = {}
        for wire in case.arguments:
            arguments[wire["name"]] = (
                scalar_value(wire) if wire["kind"] == "scalar" else self._fresh(case, wire)
            )
        self._log.begin()
        with self.context():
            # The entry may return a sequence that computes its elements when they are read.
            # collect_outputs() reads them, so it must run inside the context.
            outputs = collect_outputs(case, entry(*arguments.values()), arguments)
        self._check_inputs(case, arguments)
        return outputs

    def _reordered(self, outputs: list[torch.Tensor]) -> bool:
        """Returns True if torch, and not a kernel, changed the order of an output's elements."""
        views = [self._watch.view(output) for output in outputs if output.numel()]
        return self._log.reordered([view for view in views if isinstance(view, View)])

    def artifacts(self) -> Iterator[tuple[str, str, bytes]]:
        """Yields no artifacts, because the interpreter compiles nothing."""
        yield from ()

    def _fresh(self, case: CaseInput, wire: dict[str, Any]) -> torch.Tensor:
        if wire["dtype"] == "bfloat16":
            raise UnsupportedHere(
                f"argument {wire['name']} is bfloat16, which Triton's CPU interpreter computes wrongly; it needs a GPU"
            )
        source = case.tensor(wire)
        tensor = torch.empty_strided(source.shape, source.stride(), dtype=source.dtype).copy_(
            source
        )
        known = wire["name"] if wire["name"] in case.structural else ""
        self._watch.argument(tensor, "" if wire["name"] in case.inout else known)
        return tensor

    def _check_inputs(self, case: CaseInput, arguments: dict[str, Any]) -> None:
        """Raises an error if the entry changed an argument that is not inout. An entry must not use
        its inputs as temporary memory, because needing little memory is part of the task."""
        for wire in case.arguments:
            name, value = wire["name"], arguments[wire["name"]]
            if wire["kind"] == "scalar" or name in case.inout:
                continue
            if not torch.equal(bits(self._live.view(value, FULL)), bits(case.tensor(wire))):
                raise BadOutputs(
                    f"argument {name} was modified; the operator's spec has it as an input",
                    subject=name,
                )

    def _write(self, case: CaseInput, outputs: list[torch.Tensor]) -> list[dict[str, Any]]:
        offset, wires = 0, []
        with MappedFile(
            case.fd(case.wire["output_fd"]), writable=True, limit=case.wire["output_bytes"]
        ) as memory:
            for position, output in enumerate(outputs):
                if type(output) not in (torch.Tensor, torch.nn.Parameter):
                    raise BadOutputs(
                        f"output {position} is a {type(output).__name__}; want a plain torch.Tensor"
                    )
                if output.dtype not in NAMES:
                    raise BadOutputs(
                        f"output {position} has dtype {output.dtype}; want one of {', '.join(NAMES.values())}"
                    )
                dense = self.device_values(output)
                wire = descriptor(f"output{position}", dense, offset)
                if offset + wire["nbytes"] > memory.size:
                    raise BadOutputs(
                        f"the outputs need more than the {memory.size} bytes that the operator's outputs take"
                    )
                if wire["nbytes"]:
                    memory.tensor(wire).copy_(dense)
                wires.append(wire)
                offset = aligned(offset + wire["nbytes"])
        return wires

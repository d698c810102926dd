"""Record mode of a candidate: runs the entry on fake tensors, and writes its GPU work into a launch
plan. Each case gets its own plan.

    runner = RecordRunner("cuda:90", cache_dir)  # once, before the submission is imported
    with runner.context():
        import_submission()
    reply = runner.run_case(case, entry)  # header and payload of a `case` frame"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from typing import Any

from harness import triton_adapter
from harness.entry import fake_cuda, late_dynamo
from harness.entry.cases import CaseInput, collect_outputs
from harness.entry.errors import BadOutputs
from harness.recording import autograd, modules
from harness.recording.arithmetic import Arithmetic
from harness.recording.dispatch import Classifier
from harness.recording.launches import KernelImage
from harness.recording.recorder import Recorder
from harness.wire.argument import scalar_value
from harness.wire.tensors import dtype_from

# The zygote imports this module, so the call and the imports below are done once, before a
# candidate is forked. The call saves each candidate from loading torch._dynamo. torch would import
# the modules in the first operation on fake tensors, which takes 0.4 s, because they import sympy.
late_dynamo.install()
for _name in ("torch.fx.experimental.symbolic_shapes", "torch._functorch.config"):
    with contextlib.suppress(ImportError):  # some builds of torch lack the module
        importlib.import_module(_name)

Entry = Callable[..., Any]
TUNING_COMPILE_S = 20.0  # the time in which one candidate may compile autotuner configurations


class RecordRunner:
    """Records the cases of one submission (see the module's docstring)."""

    stage = "record"

    def __init__(
        self, target: str, cache_dir: str, alternatives: bool = True, arithmetic: bool = False
    ) -> None:
        """If `alternatives` is true, the configurations of an autotuner that can be compiled within
        TUNING_COMPILE_S are recorded as alternatives. Otherwise only the first configuration that
        compiles is recorded. If `arithmetic` is true, torch's arithmetic on device data is recorded
        as launches of Assay's own kernels."""
        fake_cuda.install(target)
        self.recorder = Recorder(target)
        self.recorder.patch_fake_tensor()
        autograd.install()
        modules.install()
        triton_adapter.install_driver(target, self.recorder, cache_dir)
        triton_adapter.patch_autotuner(self.recorder, TUNING_COMPILE_S if alternatives else 0)
        self._classifier = Classifier(self.recorder, arithmetic)
        self._kernels: list[KernelImage] = []

    def use_arithmetic(self, arithmetic: Arithmetic) -> None:
        """Replaces the object that records torch's arithmetic."""
        self._classifier.use_arithmetic(arithmetic)

    @contextlib.contextmanager
    def context(self) -> Iterator[None]:
        """Returns the context in which user code runs. Inside it, tensors are fake, and the
        classifier (dispatch.py) sees each torch operation."""
        with self.recorder.fake_mode, self._classifier, fake_cuda.NumberedDevices():
            yield

    def run_case(self, case: CaseInput, entry: Entry) -> tuple[dict[str, Any], bytes]:
        recorder = self.recorder
        recorder.begin_case()
        arguments: dict[str, Any] = {}
        for wire in case.arguments:
            if wire["kind"] == "scalar":
                arguments[wire["name"]] = scalar_value(wire)
            else:
                values = case.tensor(wire) if case.has_bytes(wire) else None
                arguments[wire["name"]] = recorder.argument(
                    str(wire["name"]),
                    dtype_from(wire["dtype"]),
                    wire["shape"],
                    wire["strides"],
                    values,
                )
        with recorder.deciding(), self.context():
            returned = entry(*arguments.values())
        outputs = collect_outputs(case, returned, arguments)
        for position, tensor in enumerate(outputs):
            if tensor.device.type != "cuda":
                raise BadOutputs(
                    f"output {position} is on {tensor.device}; return it on the device of the inputs"
                )
        plan, kernels = recorder.finish(outputs)
        self._kernels += [kernel for kernel in recorder.kernels() if kernel not in self._kernels]
        return {
            "type": "case",
            "id": case.id,
            "kernels": kernels,
            "notes": list(recorder.notes),
            "left_out": recorder.left_out,
        }, plan

    def artifacts(self) -> Iterator[tuple[str, str, bytes]]:
        """Yields (kind, name, text) for the assembly of every launched kernel."""
        for kernel in self._kernels:
            for kind in ("ptx", "amdgcn"):
                text = kernel.text(kind)
                if text:
                    yield kind, kernel.name, text.encode()

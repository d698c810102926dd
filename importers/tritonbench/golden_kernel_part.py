"""Runs the kernel part of a golden file like a submission: records each call that the test part
makes.

    part = KernelPart(text, path, "cuda:90", None, cache)
    with part.side:
        exec(test_part, part.names())
    part.calls  # the recording of each call, or the reason why there is none

No kernel runs here. So a call returns its unchanged arguments, or zeros of the right shape, to the
test part, and no result is judged. If host code needs the values of an integer argument (offsets,
block tables), the call is recorded again with that argument declared structural, and the report
says so. A forward pass and its backward pass are recorded as one plan, because the backward pass
needs tensors that the forward pass leaves on the device."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sandbox"))

import torch  # noqa: E402
from golden_arguments import Arguments, TestSide  # noqa: E402
from harness.entry.errors import NotRecordable, Source, describe  # noqa: E402
from harness.imported.proxies import proxy_of  # noqa: E402
from harness.recording.record import RecordRunner  # noqa: E402
from torch.utils._pytree import tree_flatten, tree_map  # noqa: E402

MODULE = "submission"
ASSAY_PREFIX = "assay_"  # prefix of Assay's kernels, which replace torch operations


class KernelPart:
    """Runs the kernel part like a submission, and keeps a report of each call in `calls`."""

    def __init__(
        self,
        text: str,
        path: str,
        target: str,
        plans: Path | None,
        cache: Path,
        arithmetic: bool = True,
    ) -> None:
        self.source = Source(text, path)
        self.calls: list[dict[str, Any]] = []
        self._plans = plans
        self.runner = RecordRunner(target, str(cache), alternatives=False, arithmetic=arithmetic)
        self._recorder = self.runner.recorder
        self._arithmetic = arithmetic
        self.side = TestSide()
        # Maps the names of buffers to the real tensors of the last attempted call.
        self._seen: dict[str, torch.Tensor] = {}
        with self.runner.context():
            self.module = self._import()

    def _import(self) -> ModuleType:
        Path(self.source.path).write_text(self.source.text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(MODULE, self.source.path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[MODULE] = module
        spec.loader.exec_module(module)
        return module

    def seen(self) -> int:
        """Returns the number of calls so far."""
        return len(self.calls)

    def names(self) -> dict[str, Any]:
        """Returns the names of the kernel part that the test part sees."""
        return {
            name: proxy_of(name, value, MODULE, self.record)
            for name, value in vars(self.module).items()
            if not name.startswith("__")
        }

    def record(
        self, name: str, function: Callable[..., Any], args: Any, kwargs: Any, gradients: Any = None
    ) -> Any:
        """Records one call. If host code reads values of tensors, records the call again with the
        integer arguments declared structural."""
        started = time.perf_counter()
        try:
            try:
                result, report = self._once(name, function, args, kwargs, set(), gradients)
            except NotRecordable as error:
                structural = {
                    name
                    for name, tensor in self._seen.items()
                    if not tensor.is_floating_point() or tensor.numel() == 1
                }
                if not error.reads_values or not structural:
                    raise
                result, report = self._once(name, function, args, kwargs, structural, gradients)
        except BaseException as error:
            own = [
                kernel
                for kernel in self._recorder.kernels()
                if not kernel.name.startswith(ASSAY_PREFIX)
            ]
            if self.may_be_helper(error) and gradients is None and not own:
                helped = self._helper(name, function, args, kwargs)
                if helped is not None:
                    return helped[0]
            error_report = describe(error, self.source, "record")
            self.calls.append(
                {
                    "function": name,
                    "recorded": False,
                    **{key: error_report[key] for key in ("kind", "message", "line", "code")},
                }
            )
            raise
        self.calls.append({**report, "seconds": round(time.perf_counter() - started, 3)})
        return result

    def may_be_helper(self, error: BaseException) -> bool:
        """Returns True if a function that launched no kernel, and failed with this error, may be a
        helper of the test part."""
        return isinstance(error, NotRecordable) and not self._arithmetic

    def _helper(self, name: str, function: Any, args: Any, kwargs: Any) -> tuple[Any] | None:
        """Runs a function without recording it. The function computes with torch alone and launches
        no kernel. Such a function belongs to the test part, not to the submission, because it
        prepares the kernels' arguments. Returns None if the function raises an exception."""
        try:
            with self.side.launching():
                result = function(*args, **kwargs)
        # Any exception means that the function is not such a helper. For example, it launched a
        # kernel, which fails on the test part's CPU tensors. The caller then reports the refusal of
        # the recorder.
        except Exception:
            return None
        note = f"{name} launches no kernel: run for real, as a helper of the test part"
        nothing: dict[str, Any] = {
            "kernels": [],
            "operations": 0,
            "plan_bytes": 0,
            "structural": [],
            "notes": [note],
        }
        self.calls.append({"function": name, "recorded": True, "helper": True, **nothing})
        return (result,)

    def _once(
        self, name: str, function: Any, args: Any, kwargs: Any, structural: set[str], gradients: Any
    ) -> tuple[Any, dict[str, Any]]:
        recorder = self._recorder
        recorder.begin_case()
        arguments = Arguments(recorder, structural, self.runner.context)
        self._seen = arguments.real
        self.side.off = True
        try:
            fake_args, fake_kwargs = arguments.tree(args), arguments.tree(kwargs)
            fake_function = _bound(function, arguments)
            with (
                self.runner.context(),
                torch.set_grad_enabled(torch.is_grad_enabled() or gradients is not None),
            ):
                returned = fake_function(*fake_args, **fake_kwargs)
                outputs = [x for x in tree_flatten(returned)[0] if isinstance(x, torch.Tensor)]
                if gradients is not None:
                    outputs = self._backward(outputs, arguments, gradients)
            if not any(x.device.type == "cuda" for x in outputs):
                outputs = recorder.written_arguments()
            plan, kernels = recorder.finish(
                [x.detach() for x in outputs if x.device.type == "cuda"]
            )
            report = {
                "function": name + (" and its backward" if gradients is not None else ""),
                "recorded": True,
                "kernels": kernels,
                "operations": len(recorder.plan.ops),
                "plan_bytes": len(plan),
                "structural": sorted(structural),
                "notes": list(recorder.notes),
            }
            if self._plans is not None:
                self._keep(plan, arguments)
            if gradients is not None:
                return [self._real(x, arguments) for x in outputs], report
            return self._returned(name, function, args, kwargs, returned, arguments), report
        finally:
            self.side.off = False

    @staticmethod
    def _backward(
        outputs: list[torch.Tensor], arguments: Arguments, gradients: Any
    ) -> list[torch.Tensor]:
        roots = [
            (out, arguments.convert(grad))
            for out, grad in zip([x for x in outputs if x.requires_grad], gradients, strict=True)
        ]
        wanted = [fake for _, fake in arguments.fakes]
        found = torch.autograd.grad(
            [x for x, _ in roots], wanted, [g for _, g in roots], allow_unused=True
        )
        return [torch.zeros_like(x) if g is None else g for x, g in zip(wanted, found, strict=True)]

    def _returned(
        self, name: str, function: Any, args: Any, kwargs: Any, returned: Any, arguments: Arguments
    ) -> Any:
        flat, spec = tree_flatten(returned)
        differentiable = [x for x in flat if isinstance(x, torch.Tensor) and x.requires_grad]
        if not differentiable:
            return tree_map(lambda x: self._real(x, arguments), returned)
        sources = [real for real, _ in arguments.fakes]
        box = {
            "again": lambda gradients: self.record(name, function, args, kwargs, gradients),
            "outputs": [
                torch.zeros_like(self._real(x.detach(), arguments)) for x in differentiable
            ],
        }
        made = iter(Bridge.apply(box, *sources))
        real = [
            next(made)
            if isinstance(x, torch.Tensor) and x.requires_grad
            else self._real(x, arguments)
            for x in flat
        ]
        return (
            spec.unflatten(real)
            if hasattr(spec, "unflatten")
            else torch.utils._pytree.tree_unflatten(real, spec)
        )

    def _real(self, value: Any, arguments: Arguments) -> Any:
        """Returns the value that the test part gets for a value that the kernel part returned. A
        fake tensor that uses the memory of an argument becomes a view of the real argument. Any
        other fake tensor becomes a tensor of zeros."""
        if not isinstance(value, torch.Tensor):
            return value
        record = self._recorder.record_of(value)
        shape, strides, offset = (
            tuple(value.shape),
            tuple(value.stride()),
            int(value.storage_offset()),
        )
        if record.argument:
            return (
                arguments.real[record.argument].view(value.dtype).as_strided(shape, strides, offset)
            )
        return torch.empty_strided(shape, strides, dtype=value.dtype).zero_()

    def _keep(self, plan: bytes, arguments: Arguments) -> None:
        """Writes the plan and its inputs to files, for a replay on another machine."""
        assert self._plans is not None
        folder = self._plans / f"{Path(self.source.path).stem}-{len(self.calls)}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "plan").write_bytes(plan)
        for name, tensor in arguments.real.items():
            (folder / name).write_bytes(tensor.contiguous().view(torch.uint8).numpy().tobytes())


class Bridge(torch.autograd.Function):
    """Represents a recorded call in the test part's autograd graph. When autograd calls `backward`,
    the backward pass of the call is recorded."""

    @staticmethod
    def forward(ctx: Any, box: dict[str, Any], *sources: torch.Tensor) -> Any:
        ctx.box = box
        return tuple(box["outputs"])

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        found = ctx.box["again"]([gradient.contiguous() for gradient in gradients])
        return (None, *found)


def _bound(function: Any, arguments: Arguments) -> Any:
    owner = getattr(function, "__self__", None)
    if (
        owner is None
        or isinstance(owner, type)
        or not hasattr(owner, "__dict__")
        or not hasattr(function, "__func__")
    ):
        return function
    return function.__func__.__get__(arguments.convert(owner))

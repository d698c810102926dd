"""One golden file of TritonBench-G in a process of its own: its test part runs, every call of its kernel part is recorded.

    python bench/tritonbench_file.py FILE --target cuda:90 [--plans DIR]      # prints one JSON object

The file's two parts have different authors in mind and get different roles. The *test part* is the judge: it makes real tensors (on the
CPU, which it takes for a GPU) and calls what the kernel part defines. The *kernel part* is the submission: each such call goes through the
recorder on fake tensors, as a candidate's would, and gives one launch plan. What the call returns to the test part are zeros of the
right shape: nothing is computed here, so nothing is judged either. Where host code needs the values of an integer argument (offsets, block
tables), the call is recorded again with that argument declared structural, and the report says so. A backward pass is recorded as
one plan with its forward pass, since tensors that the first kept for the second live on the device.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.util
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "sandbox"))

import torch  # noqa: E402
from harness.errors import NotRecordable, Source, describe  # noqa: E402
from harness.interpret import CudaOnCpu  # noqa: E402
from harness.record import RecordRunner  # noqa: E402
from torch.utils._pytree import tree_flatten, tree_map  # noqa: E402

MODULE = "submission"
SEPARATOR = re.compile(r"^#{100,}[ \t]*$", re.MULTILINE)
REFUSALS = ("not_recordable", "compilation_error", "unsupported")  # kinds of errors that are the recorder's
OURS = "assay_"  # kernels that stand for what torch does
MADE = "_assay_made"  # attribute: how an object of the kernel part's class was made
SCALARS = (bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device, torch.Size)


def split(text: str) -> tuple[str, str]:
    """The kernel part and the test part; the latter keeps its line numbers."""
    found = list(SEPARATOR.finditer(text))
    if not found:
        raise ValueError("the file has no line of '#' characters between its kernel part and its test part")
    end = found[-1].end()
    return text[: found[-1].start()], "\n" * text.count("\n", 0, end) + text[end:]


class TestSide(CudaOnCpu):
    """What the test part runs in; off while the kernel part runs, whose tensors are the recorder's."""

    off = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {})) if self.off else super().__torch_function__(func, types, args, kwargs)


class Arguments:
    """The arguments of one call as the recorder's fake tensors; tensors that share memory share a buffer."""

    def __init__(self, recorder: Any, structural: set[str]) -> None:
        self._recorder = recorder
        self._structural = structural
        self._wholes: dict[int, torch.Tensor] = {}
        self.real: dict[str, torch.Tensor] = {}  # a flat view of the whole storage, by the name of its buffer
        self.fakes: list[tuple[torch.Tensor, torch.Tensor]] = []  # (real, fake) of every tensor that wants a gradient

    def convert(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, SCALARS) or (callable(value) and not isinstance(value, torch.nn.Module)):
            return value
        if isinstance(value, torch.nn.Module) or hasattr(value, "__dict__"):
            return self._object(value)
        return value

    def tree(self, value: Any) -> Any:
        return tree_map(self.convert, value)

    def _tensor(self, real: torch.Tensor) -> torch.Tensor:
        key = real.untyped_storage()._cdata
        if key not in self._wholes:
            count = real.untyped_storage().nbytes() // real.element_size()
            flat = torch.empty(0, dtype=real.dtype).set_(real.untyped_storage(), 0, (count,), (1,))
            name = f"arg{len(self._wholes)}"
            self.real[name] = flat
            self._wholes[key] = self._recorder.argument(name, flat.dtype, [count], [1], flat if name in self._structural else None)
        with self._recorder.fake_mode:
            whole = self._wholes[key]
            whole = whole if whole.dtype == real.dtype else whole.view(real.dtype)
            fake = torch.as_strided(whole, real.shape, real.stride(), real.storage_offset())
            if real.requires_grad:
                fake = fake.detach().requires_grad_()
                self.fakes.append((real, fake))
        return fake

    def _object(self, value: Any) -> Any:
        """An object of the test part, or of a class of the kernel part: its tensors are arguments too."""
        if MADE in vars(value):
            kind, args, kwargs = vars(value)[MADE]
            return kind(*self.tree(args), **self.tree(kwargs))
        twin = copy.copy(value)
        twin.__dict__ = {
            name: {k: self.convert(v) for k, v in item.items()} if isinstance(item, dict) else self.convert(item)
            for name, item in vars(value).items()
        }
        return twin


class KernelPart:
    """The kernel part as a submission, and the calls that were made of it."""

    def __init__(self, text: str, path: str, target: str, plans: Path | None, cache: Path, arithmetic: bool = True) -> None:
        self.source = Source(text, path)
        self.calls: list[dict[str, Any]] = []
        self._plans = plans
        self.runner = RecordRunner(target, str(cache), alternatives=False, arithmetic=arithmetic)
        self._recorder = self.runner.recorder
        self._arithmetic = arithmetic
        self.side = TestSide()
        self._seen: dict[str, torch.Tensor] = {}  # of the call that was tried last
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

    def names(self) -> dict[str, Any]:
        """What the test part sees of the kernel part."""
        return {name: self._proxy(name, value) for name, value in vars(self.module).items() if not name.startswith("__")}

    def _proxy(self, name: str, value: Any) -> Any:
        if hasattr(value, "run") and hasattr(value, "fn") and hasattr(value, "__getitem__"):
            return KernelProxy(self, name, value)
        if isinstance(value, type) and value.__module__ == MODULE:
            return FunctionProxy(self, name, value) if issubclass(value, torch.autograd.Function) else ClassProxy(self, name, value)
        if (callable(value) and getattr(value, "__module__", None) == MODULE) or _is_apply(value):
            return lambda *args, **kwargs: self.record(name, value, args, kwargs)
        return value

    def record(self, name: str, function: Callable[..., Any], args: Any, kwargs: Any, gradients: Any = None) -> Any:
        """One call; once more with integer arguments structural if host code reads values."""
        started = time.perf_counter()
        try:
            try:
                result, report = self._once(name, function, args, kwargs, set(), gradients)
            except NotRecordable as error:
                structural = {name for name, tensor in self._seen.items() if not tensor.is_floating_point() or tensor.numel() == 1}
                if not error.reads_values or not structural:
                    raise
                result, report = self._once(name, function, args, kwargs, structural, gradients)
        except BaseException as error:
            own = [kernel for kernel in self._recorder.kernels() if not kernel.name.startswith(OURS)]
            if isinstance(error, NotRecordable) and not self._arithmetic and gradients is None and not own:
                helped = self._helper(name, function, args, kwargs)
                if helped is not None:
                    return helped[0]
            told = describe(error, self.source, "record")
            self.calls.append({"function": name, "recorded": False, **{key: told[key] for key in ("kind", "message", "line", "code")}})
            raise
        self.calls.append({**report, "seconds": round(time.perf_counter() - started, 3)})
        return result

    def _helper(self, name: str, function: Any, args: Any, kwargs: Any) -> tuple[Any] | None:
        """A function that computes with torch alone and launches no kernel is no submission's work but the test part's: it prepares what
        the kernels get. It runs for real; nothing when a kernel is launched after all."""
        try:
            result = function(*args, **kwargs)
        except Exception:  # a launch on the test side's CPU tensors, for one: then the refusal is what counts
            return None
        note = f"{name} launches no kernel: run for real, as a helper of the test part"
        nothing: dict[str, Any] = {"kernels": [], "operations": 0, "plan_bytes": 0, "structural": [], "notes": [note]}
        self.calls.append({"function": name, "recorded": True, "helper": True, **nothing})
        return (result,)

    def _once(self, name: str, function: Any, args: Any, kwargs: Any, structural: set[str], gradients: Any) -> tuple[Any, dict[str, Any]]:
        recorder = self._recorder
        recorder.begin_case()
        arguments = Arguments(recorder, structural)
        self._seen = arguments.real
        self.side.off = True
        try:
            fake_args, fake_kwargs = arguments.tree(args), arguments.tree(kwargs)
            fake_function = _bound(function, arguments)
            with self.runner.context(), torch.set_grad_enabled(torch.is_grad_enabled() or gradients is not None):
                returned = fake_function(*fake_args, **fake_kwargs)
                outputs = [x for x in tree_flatten(returned)[0] if isinstance(x, torch.Tensor)]
                if gradients is not None:
                    outputs = self._backward(outputs, arguments, gradients)
            if not any(x.device.type == "cuda" for x in outputs):
                outputs = recorder.written_arguments()
            plan, kernels = recorder.finish([x.detach() for x in outputs if x.device.type == "cuda"])
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
    def _backward(outputs: list[torch.Tensor], arguments: Arguments, gradients: Any) -> list[torch.Tensor]:
        roots = [(out, arguments.convert(grad)) for out, grad in zip([x for x in outputs if x.requires_grad], gradients, strict=True)]
        wanted = [fake for _, fake in arguments.fakes]
        found = torch.autograd.grad([x for x, _ in roots], wanted, [g for _, g in roots], allow_unused=True)
        return [torch.zeros_like(x) if g is None else g for x, g in zip(wanted, found, strict=True)]

    def _returned(self, name: str, function: Any, args: Any, kwargs: Any, returned: Any, arguments: Arguments) -> Any:
        flat, spec = tree_flatten(returned)
        differentiable = [x for x in flat if isinstance(x, torch.Tensor) and x.requires_grad]
        if not differentiable:
            return tree_map(lambda x: self._real(x, arguments), returned)
        sources = [real for real, _ in arguments.fakes]
        box = {
            "again": lambda gradients: self.record(name, function, args, kwargs, gradients),
            "outputs": [torch.zeros_like(self._real(x.detach(), arguments)) for x in differentiable],
        }
        made = iter(Bridge.apply(box, *sources))
        real = [next(made) if isinstance(x, torch.Tensor) and x.requires_grad else self._real(x, arguments) for x in flat]
        return spec.unflatten(real) if hasattr(spec, "unflatten") else torch.utils._pytree.tree_unflatten(real, spec)

    def _real(self, value: Any, arguments: Arguments) -> Any:
        """What the test part gets for a fake tensor: the argument's own memory, or zeros."""
        if not isinstance(value, torch.Tensor):
            return value
        record = self._recorder.record_of(value)
        shape, strides, offset = tuple(value.shape), tuple(value.stride()), int(value.storage_offset())
        if record.argument:
            return arguments.real[record.argument].view(value.dtype).as_strided(shape, strides, offset)
        return torch.empty_strided(shape, strides, dtype=value.dtype).zero_()

    def _keep(self, plan: bytes, arguments: Arguments) -> None:
        """The plan and its inputs, for a replay elsewhere."""
        assert self._plans is not None
        folder = self._plans / f"{Path(self.source.path).stem}-{len(self.calls)}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "plan").write_bytes(plan)
        for name, tensor in arguments.real.items():
            (folder / name).write_bytes(tensor.contiguous().view(torch.uint8).numpy().tobytes())


class Bridge(torch.autograd.Function):
    """Stands for a recorded call in the test part's autograd graph: its backward pass records the call's."""

    @staticmethod
    def forward(ctx: Any, box: dict[str, Any], *sources: torch.Tensor) -> Any:
        ctx.box = box
        return tuple(box["outputs"])

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        found = ctx.box["again"]([gradient.contiguous() for gradient in gradients])
        return (None, *found)


class KernelProxy:
    """A kernel that the test part launches itself."""

    def __init__(self, part: KernelPart, name: str, kernel: Any) -> None:
        self._part, self._name, self._kernel = part, name, kernel

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        return lambda *args, **kwargs: self._part.record(self._name, self._kernel[grid], args, kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)


class FunctionProxy:
    """An autograd.Function."""

    def __init__(self, part: KernelPart, name: str, function: Any) -> None:
        self._part, self._name, self._function = part, name, function

    def apply(self, *args: Any, **kwargs: Any) -> Any:
        return self._part.record(f"{self._name}.apply", self._function.apply, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._function, name)
        return (lambda *args, **kwargs: self._part.record(f"{self._name}.{name}", value, args, kwargs)) if callable(value) else value


class ClassProxy:
    """A class of the kernel part: objects are made on the test side, their calls are recorded."""

    def __init__(self, part: KernelPart, name: str, kind: type) -> None:
        self._part, self._name, self._kind = part, name, kind

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        made = self._kind(*args, **kwargs)
        if not isinstance(made, torch.nn.Module):
            if hasattr(made, "__dict__"):
                vars(made)[MADE] = (self._kind, args, kwargs)
            return made
        original = type(made).__call__
        part, name = self._part, self._name
        recorded = type(
            self._name,
            (self._kind,),
            {"__call__": lambda self, *a, **k: part.record(name, lambda module, *b, **c: original(module, *b, **c), (self, *a), k)},
        )
        made.__class__ = recorded
        return made


def _is_apply(value: Any) -> bool:
    owner = getattr(value, "__self__", None)
    return isinstance(owner, type) and owner.__module__ == MODULE


def _bound(function: Any, arguments: Arguments) -> Any:
    owner = getattr(function, "__self__", None)
    if owner is None or isinstance(owner, type) or not hasattr(owner, "__dict__") or not hasattr(function, "__func__"):
        return function
    return function.__func__.__get__(arguments.convert(owner))


def run(
    path: Path, target: str, plans: Path | None, cache: Path | None, arithmetic: bool = True, kind: type[KernelPart] = KernelPart
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="tritonbench-") as folder:
        return _run(path, folder, target, plans, cache or Path(folder) / "triton-cache", arithmetic, kind)


def _run(path: Path, folder: str, target: str, plans: Path | None, cache: Path, arithmetic: bool, kind: type[KernelPart]) -> dict[str, Any]:
    kernel_text, test_text = split(path.read_text(encoding="utf-8"))
    report: dict[str, Any] = {"file": path.name, "recorded": False, "calls": []}
    source = Source(kernel_text, os.path.join(folder, f"{path.stem}.py"))
    try:
        part = kind(kernel_text, source.path, target, plans, cache, arithmetic)
    except BaseException as error:
        return {**report, **_told(error, source, "import")}
    report["calls"] = part.calls
    _share_imports(part.module, test_text)
    names = {**part.names(), "__name__": "__main__"}
    try:
        with part.side:
            exec(compile(test_text, str(path), "exec"), names)
    except BaseException as error:
        whole = Source(path.read_text(encoding="utf-8"), str(path))
        return {**report, **(_refused(part.calls) or _told(error, whole, "test part"))}
    failed = [call for call in part.calls if not call["recorded"]]
    # What a submission raises itself, and the test part expects, is no refusal.
    refused = [call for call in failed if call["kind"] in REFUSALS]
    report["recorded"] = any(call["recorded"] and not call.get("helper") for call in part.calls) and not refused
    if not report["recorded"]:
        report.update(_refused(refused or failed))
    if not part.calls:
        report.update(stage="test part", kind="no_call", message="the test part called nothing of the kernel part", line=None, code="")
    return report


def _share_imports(module: ModuleType, test_text: str) -> None:
    """In the original both parts are one module: the kernel part's functions see what the test part imports."""
    imports = [node for node in ast.parse(test_text).body if isinstance(node, ast.Import | ast.ImportFrom)]
    exec(compile(ast.Module(imports, []), module.__name__, "exec"), vars(module))


def _refused(calls: list[dict[str, Any]]) -> dict[str, Any]:
    """Why the last call that was not recorded was not."""
    failed = [call for call in calls if not call["recorded"]]
    return {"stage": "record", **{key: failed[-1][key] for key in ("kind", "message", "line", "code")}} if failed else {}


def _told(error: BaseException, source: Source, stage: str) -> dict[str, Any]:
    told = describe(error, source, stage)
    return {key: told[key] for key in ("stage", "kind", "message", "line", "code", "traceback")}


def main() -> int:
    parser = argparse.ArgumentParser(description="Records every call that a golden file's test part makes of its kernel part.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--target", default="cuda:90")
    parser.add_argument("--plans", type=Path, help="keep the plans and their inputs in this folder")
    parser.add_argument("--cache", type=Path, help="keep compiled kernels in this folder, for the next run")
    parser.add_argument("--no-arithmetic", action="store_true", help="refuse arithmetic by torch, as for a scored submission")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    report = run(arguments.file, arguments.target, arguments.plans, arguments.cache, not arguments.no_arithmetic)
    sys.stdout.write("\n" + json.dumps(report) + "\n")
    sys.stdout.flush()
    os._exit(0)  # leftovers of a recording may crash at the interpreter's own exit


if __name__ == "__main__":
    main()

"""Computes one side of a comparison: either recorded launch plans or captured CUDA graphs. The two
sides are computed in separate processes, because recording replaces Triton's driver. Each
submission runs in a forked child.

    python plan_sides.py record  TASKS.json OUT cuda:90  # without a GPU: plans of public cases
    python plan_sides.py capture TASKS.json OUT          # with a GPU: the kernels of a CUDA graph

TASKS.json is [{"name", "operator" (its folder), "source"}]. The result is written to OUT/NAME.json,
or an error to OUT/NAME.error. Both sides draw the same inputs on the CPU, so host code that reads
structural inputs takes the same path. Autotuners use their first configuration."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "sandbox"))
SEED = 7

import torch  # noqa: E402
from harness import triton_adapter  # noqa: E402
from harness.operator import Operator  # noqa: E402
from harness.wire.tensors import span_bytes  # noqa: E402


def load(source: str, entry: str) -> Callable[..., Any]:
    spec = importlib.util.spec_from_file_location("submission", source)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["submission"] = module
    spec.loader.exec_module(module)
    return getattr(module, entry)  # type: ignore[no-any-return]


def public_cases(operator: Operator) -> Iterator[tuple[str, dict[str, Any]]]:
    for wire in operator.spec["cases"]:
        if wire["visibility"] == "public":
            yield wire["id"], operator.inputs(operator.case(wire, "cpu"), SEED)


def outputs_of(operator: Operator, returned: Any, arguments: dict[str, Any]) -> list[torch.Tensor]:
    values = iter(returned if isinstance(returned, tuple | list) else [returned])
    return [
        arguments[output.source] if output.source else next(values) for output in operator.outputs
    ]


def record(operator: Operator, source: str, target: str) -> dict[str, Any]:
    from harness.recording.record import RecordRunner

    runner = RecordRunner(target, tempfile.mkdtemp(prefix="triton-cache-"), alternatives=False)
    recorder = runner.recorder
    with runner.context():
        entry = load(source, operator.spec["entry"])
    structural = {argument.name for argument in operator.arguments if argument.role == "structural"}
    plans = {}
    for case, arguments in public_cases(operator):
        recorder.begin_case()
        fakes = {
            name: recorder.argument(
                name,
                value.dtype,
                value.shape,
                value.stride(),
                value if name in structural else None,
            )
            if isinstance(value, torch.Tensor)
            else value
            for name, value in arguments.items()
        }
        with runner.context():
            returned = entry(*fakes.values())
        plan, _ = recorder.finish(outputs_of(operator, returned, fakes))
        plans[case] = {"plan": plan.hex()}
    return plans


def on_gpu(value: Any) -> Any:
    """Returns a copy on the GPU with the same layout. The copy's allocation ends with its last
    element."""
    if not isinstance(value, torch.Tensor):
        return value
    count = span_bytes(value.shape, value.stride(), 1)
    whole = torch.as_strided(value, (count,), (1,), value.storage_offset()).cuda()
    return torch.as_strided(whole, value.shape, value.stride())


def capture(operator: Operator, source: str) -> dict[str, Any]:
    from driver_graph import kernels

    triton_adapter.patch_autotuner(None, 0)
    entry = load(source, operator.spec["entry"])
    captured: dict[str, Any] = {}
    for case, arguments in public_cases(operator):
        # The first call compiles and loads the kernels, which is not allowed during a capture.
        entry(*[on_gpu(value) for value in arguments.values()])
        torch.cuda.synchronize()
        given = {name: on_gpu(value) for name, value in arguments.items()}
        graph = torch.cuda.CUDAGraph(keep_graph=True)
        try:
            with torch.cuda.graph(graph):
                returned = entry(*given.values())
        except RuntimeError as error:
            captured[case] = {"error": f"{type(error).__name__}: {error}"}
            continue
        captured[case] = {
            "kernels": [
                {**dataclasses.asdict(node), "params": [param.hex() for param in node.params]}
                for node in kernels(graph.raw_cuda_graph())
            ],
            "arguments": {
                name: [x.data_ptr(), x.untyped_storage().nbytes()]
                for name, x in given.items()
                if isinstance(x, torch.Tensor)
            },
            "outputs": [value.data_ptr() for value in outputs_of(operator, returned, given)],
        }
    return captured


def perform(task: dict[str, str], mode: str, out: Path, target: str) -> None:
    """Performs one task and ends the process. Runs in a child process."""
    try:
        operator = Operator.load(Path(task["operator"]))
        found = (
            record(operator, task["source"], target)
            if mode == "record"
            else capture(operator, task["source"])
        )
        part = out / f"{task['name']}.part"
        part.write_text(json.dumps(found))
        part.rename(out / f"{task['name']}.json")
    except BaseException:
        (out / f"{task['name']}.error").write_text(traceback.format_exc())
    os._exit(0)  # a normal exit of the interpreter may crash after a recording


def main() -> None:
    mode, tasks, out, *target = sys.argv[1:]
    for task in json.loads(Path(tasks).read_text()):
        child = os.fork()
        if child == 0:
            perform(task, mode, Path(out), *target or [""])
        _, status = os.waitpid(child, 0)
        if not any((Path(out) / f"{task['name']}.{kind}").exists() for kind in ("json", "error")):
            (Path(out) / f"{task['name']}.error").write_text(
                f"the process ended with status {status}"
            )


if __name__ == "__main__":
    main()

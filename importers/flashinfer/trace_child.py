"""Checks the operator that a definition became, inside the jail. The process is a forked child of
import_zygote.py; it is untrusted, because it runs the definition's code.

    status = serve(channel, layers)  # waits for `operator`; answers `step`..., `report`

The child loads the operator as a judge does, and runs its reference for the cases. Cases that are
too large to run on this machine are run without values (on the device `meta`), if their code allows
it. The report says for each case whether it can be judged."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import torch
from harness.operator import Case, Operator, OperatorError
from harness.wire.frames import Channel, Frame, FrameError
from import_child import serve_one
from torch.utils.flop_counter import FlopCounterMode

RUN_BYTES = 32 << 20  # of arguments and outputs; larger cases are not run, except the smallest one
REASON_CHARS = 400
SEED = 1

Report = dict[str, Any]


class Refused(Exception):
    """The reference cannot be a reference. `kind` is a word for counting."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def serve(channel: Channel, layers: list[dict[str, Any]]) -> int:
    """Checks the operator that the importer sends. Returns the exit status of this process."""
    return serve_one(channel, layers, lambda frame: _check(channel, frame))


def _check(channel: Channel, frame: Frame) -> None:
    if frame.type != "operator":
        raise FrameError(f"expected an operator, got {frame.type!r}")
    folder = Path("/tmp") / f"import-{os.getpid()}" / frame.header["name"]
    folder.mkdir(parents=True)
    begin = 0
    for name, size in frame.header["files"]:
        (folder / name).write_bytes(frame.payload[begin : begin + size])
        begin += size
    channel.send({"type": "report", "report": check(channel, folder)})


def check(channel: Channel, folder: Path) -> Report:
    channel.send({"type": "step", "name": "load the reference"})
    try:
        operator = Operator.load(folder)
    except BaseException as error:
        return {"kind": "bad_reference", "reason": _shown(error), "cases": {}}
    cases = [operator.case(wire, "cpu") for wire in operator.spec["cases"]]
    sizes = {case.id: _bytes(operator, case) for case in cases}
    least = min(sizes.values())
    found: Report = {"kind": "", "reason": "", "cases": {}}
    for case in sorted(cases, key=lambda one: sizes[one.id]):
        channel.send({"type": "step", "name": f"run the reference for {case.id}"})
        try:
            if sizes[case.id] <= RUN_BYTES or sizes[case.id] == least:
                found["cases"][case.id] = _run(operator, case)
            else:
                found["cases"][case.id] = _run_without_values(operator, case)
        except Refused as error:
            return {"kind": error.kind, "reason": str(error), "cases": {}}
        except BaseException as error:
            found["cases"][case.id] = {"problem": _shown(error), "flops": 0}
    return found


def _bytes(operator: Operator, case: Case) -> int:
    total = 0
    for one in (*operator.arguments, *operator.outputs):
        count = operator.dtype_of(one.dtype, case).itemsize if one.dtype else 8
        for extent in one.shape:
            count *= case.axes[str(extent)]
        total += count
    return total


def _run(operator: Operator, case: Case) -> Report:
    arguments = operator.inputs(case, SEED)
    _check_constraints(operator, case, arguments)
    before = {k: value.clone() for k, value in arguments.items() if isinstance(value, torch.Tensor)}
    with FlopCounterMode(display=False) as counter:
        first = operator.expected(case, arguments)
    written = [name for name, value in before.items() if not _same(value, arguments[name])]
    if written:
        raise Refused("writes_input", f"the reference writes to its input {written[0]}")
    second = operator.expected(case, arguments)
    if not all(_same(a, b) for a, b in zip(first, second, strict=True)):
        raise Refused("random_outputs", "the reference gives other outputs for the same inputs")
    return {"problem": "", "flops": counter.get_total_flops()}


def _run_without_values(operator: Operator, case: Case) -> Report:
    """Checks the shapes and dtypes of a large case. Code that reads values is not checked."""
    described = Case(case.id, case.axes, case.dtype, case.distribution, torch.device("meta"))
    shapes = operator.shapes(case)
    with contextlib.suppress(NotImplementedError, RuntimeError):
        if shapes is not None:
            operator.expected(described, shapes)
    return {"problem": "", "flops": 0}


def _check_constraints(operator: Operator, case: Case, arguments: dict[str, Any]) -> None:
    """Evaluates the constraints with the values of the inputs, under the definition's names."""
    known = operator.module._DEFINITION.known()
    names = {one["original"]: arguments[one["name"]] for one in known["arguments"]}
    names.update({original: case.axes[name] for original, name in known["axes"].items()})
    for text in known["definition"].get("constraints") or []:
        if not eval(text, {"torch": torch}, names):
            raise OperatorError(f"its inputs break the constraint {text}")


def _same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return bool(torch.equal(a.reshape(-1).view(torch.uint8), b.reshape(-1).view(torch.uint8)))


def _shown(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:REASON_CHARS]

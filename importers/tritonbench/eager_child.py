"""Imports one file whose reference is a function of PyTorch, inside the jail (golden_child.py). The
child forks a process for each operator, so that a crash or a change of torch's state by one call
leaves the others alone."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sandbox"))

import torch  # noqa: E402
from benchmark_file import operator_name  # noqa: E402
from eager_build import Builder  # noqa: E402
from eager_calls import (  # noqa: E402
    Call,
    Refused,
    functions_of,
    load_reference,
    mark_fixed,
    trace,
)
from eager_devices import left_on_the_cpu  # noqa: E402
from eager_form import Form  # noqa: E402
from eager_operator import RESERVED, Parts, write_operator  # noqa: E402
from golden_child import FileImport, Report  # noqa: E402
from golden_folder import split  # noqa: E402
from harness.entry.errors import Source, describe  # noqa: E402

MOST_FORMS = 16  # operators of one file
IMPORTER = "tritonbench-t"
MODULE_NAME_PREFIX = "reference_of_"


class EagerImport(FileImport):
    """The import of a file with a reference part and a test part."""

    def run(self) -> None:
        found = self._step("trace", self._trace)
        report: Report = {
            "tier": "neither",
            "kind": found["kind"],
            "reason": _reason(found),
            "calls": found.get("calls", 0),
            "left_out": found.get("left_out", []),
            "operators": [],
        }
        for number in range(found.get("forms", 0)):
            made = self._step(f"operator {number + 1}", lambda number=number: self._build(number))
            if made["kind"]:
                report["left_out"].append(_reason(made))
                report["kind"] = report["kind"] or made["kind"]
                report["reason"] = report["reason"] or _reason(made)
                continue
            report["operators"].append(made["operator"])
        if report["operators"]:
            report.update(tier="eager", kind="", reason=_reason(found))
        self._send(report)

    def _calls(self) -> tuple[Any, str, list[Call], str]:
        reference, test = split(self._golden.text)
        name = Path(self._golden.name).stem
        module = load_reference(reference, name)
        if taken := sorted(set(RESERVED) & set(functions_of(module))):
            raise Refused("reserved_name", f"the reference defines {', '.join(taken)}")
        calls, problem = trace(module, test, seed=0)
        again, _ = trace(module, test, seed=1)
        mark_fixed(calls, again)
        return module, reference, calls, problem

    def _trace(self) -> Report:
        _prepare()
        try:
            _, _, calls, problem = self._calls()
        except Exception as error:
            return _failed(error)
        forms = _forms(calls)
        left_out = [f"{one.problem.kind}: {one.problem}" for one in calls if one.problem]
        report: Report = {"kind": "", "message": "", "calls": len(calls), "forms": len(forms)}
        if problem:
            report.update(kind="test_part_raises", message=f"the test part raises {problem}")
        if len(forms) == MOST_FORMS:
            left_out.append(f"too_many_forms: only {MOST_FORMS} operators of a file are made")
        if not forms:
            first = next((one.problem for one in calls if one.problem), None)
            if first is not None:
                report.update(kind=first.kind, message=str(first))
            elif not problem:
                report.update(kind="no_call", message="the test part calls no function")
        report["left_out"] = list(dict.fromkeys(left_out))
        return report

    def _build(self, number: int) -> Report:
        _prepare()
        try:
            module, reference, calls, _ = self._calls()
            group = _forms(calls)[number]
            name = operator_name(self._golden.name) + (f"_{number + 1}" if number else "")
            folder = self._suite / "standard" / name
            parts = Parts(self._golden, reference, IMPORTER)

            def write(form: Form) -> Path:
                write_operator(folder, form, parts)
                return folder

            form = Form(group)
            form.on_cpu = left_on_the_cpu(form, module)
            form = Builder(form, module, write, reference).build()
        except Exception as error:
            return _failed(error)
        made = {"name": name, "cases": len(form.cases), "tier": "eager", "reason": ""}
        return {"kind": "", "message": "", "operator": made}


def _prepare() -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)


def _forms(calls: list[Call]) -> list[list[Call]]:
    groups: dict[Any, list[Call]] = {}
    for call in calls:
        if call.problem is None:
            groups.setdefault(call.form(), []).append(call)
    return list(groups.values())[:MOST_FORMS]


def _failed(error: Exception) -> Report:
    if isinstance(error, Refused):
        return {"kind": error.kind, "message": str(error)}
    found = describe(error, Source("", ""), "import")
    lines = str(found["message"]).splitlines() or [""]
    return {"kind": str(found["kind"]), "message": f"{type(error).__name__}: {lines[0][:200]}"}


def _reason(found: Report) -> str:
    return f"{found['kind']}: {found['message']}" if found["kind"] else ""

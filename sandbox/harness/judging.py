"""The judge's state for one case: seed, inputs, expected outputs; what `prepare` and `compare` say about it.

state = CaseState(operator, case)
fd, wire = state.prepared(structural_only=False)
result = state.compare(outputs)
"""

from __future__ import annotations

import os
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from harness.compare import Result, Rule, compare
from harness.operator import Case, Operator
from harness.tensors import MappedFile, make_memfd, name_of, pack

SEED_BYTES = 7  # a positive int64


def rules_for(operator: Operator, case: Case) -> list[Rule]:
    return [
        Rule(o.name, operator.dtype_of(o.dtype, case), operator.output_shape(o, case), o.max_abs_error, operator.scale(o, case))
        for o in operator.outputs
    ]


def bytes_of(value: Any) -> int:
    return value.numel() * value.element_size() if isinstance(value, torch.Tensor) else 0


def _shapes_only(operator: Operator, case: Case, seed: int) -> dict[str, Any]:
    """Arguments without values where that is possible: a large case then costs milliseconds instead of seconds."""
    if any(argument.role == "structural" for argument in operator.arguments):
        return operator.inputs(case, seed)
    try:
        with FakeTensorMode(allow_non_fake_inputs=True):
            return operator.inputs(case, seed)
    except Exception:  # inputs() reads values: then they have to be real
        return operator.inputs(case, seed)


def warm_up() -> None:
    """Loads what the first fake tensor would load: seconds that no request should wait for."""
    with FakeTensorMode(allow_non_fake_inputs=True):
        torch.randn(8, generator=torch.Generator()).to(torch.float16)


class CaseState:
    """Owned by the judge; never shared."""

    def __init__(self, operator: Operator, case: Case, structural_only: bool = False) -> None:
        """`structural_only`: the arguments need shapes, and values only where host code may read them."""
        self.operator = operator
        self.case = case
        self.rules = rules_for(operator, case)
        self.seed = int.from_bytes(os.urandom(SEED_BYTES), "little")
        self.arguments = _shapes_only(operator, case, self.seed) if structural_only else operator.inputs(case, self.seed)
        self._expected: list[torch.Tensor] | None = None
        self._float64: list[torch.Tensor] | None = None

    def prepared(self, structural_only: bool, position: int) -> tuple[int, dict[str, Any]]:
        """The sealed input memfd and this case's entry of `prepared`; `position` is the memfd's index there."""
        roles = {argument.name: argument.role for argument in self.operator.arguments}
        tensors = [(name, value) for name, value in self.arguments.items() if isinstance(value, torch.Tensor)]
        with_bytes = [(name, value) for name, value in tensors if roles[name] == "structural" or not structural_only]
        fd, wires = make_memfd("assay-inputs", with_bytes)
        described = {wire["name"]: wire for wire in pack(tensors)[0]}
        described.update({wire["name"]: {**wire, "fd": position} for wire in wires})
        cost = self.operator.cost(self.case)
        return fd, {
            "id": self.case.id,
            "arguments": [described[name] if name in described else _scalar(name, value) for name, value in self.arguments.items()],
            "structural": [name for name, role in roles.items() if role == "structural"],
            "inout": [name for name, role in roles.items() if role == "inout"],
            "outputs": [self._output(position) for position in range(len(self.rules))],
            "input_fd": position,
            "seed": f"{self.seed:#x}",
            "cost": {"bytes": float(cost.bytes), "flops": float(cost.flops)},
        }

    def _output(self, position: int) -> dict[str, Any]:
        rule, source = self.rules[position], self.operator.outputs[position].source
        nbytes = rule.dtype.itemsize
        for size in rule.shape:
            nbytes *= size
        return {"name": rule.name, "dtype": name_of(rule.dtype), "shape": rule.shape, "nbytes": nbytes, "from": source or None}

    def work_ahead(self) -> None:
        """Computes what a comparison needs. Raises what the operator's reference raises."""
        if self._expected is None:
            self._float64 = self.operator.in_float64(self.arguments)
            self._expected = self.operator.expected(self.case, self.arguments)

    def compare(self, wires: list[dict[str, Any]], fd: int) -> Result:
        """Judges the outputs in a memfd. Raises DescriptorError when they are not inside it."""
        self.work_ahead()
        assert self._expected is not None
        with MappedFile.snapshot(fd) as memory:
            outputs = [memory.tensor(wire) for wire in wires]
            return compare(self.rules, self._expected, outputs, self._float64)

    def run_reference(self) -> None:
        self.operator.reference(self.arguments)


def _scalar(name: str, value: Any) -> dict[str, Any]:
    return {"name": name, "kind": "scalar", "type": type(value).__name__, "value": value}

"""One operator in the making: calls of one form, the kinds of its inputs, and its cases.

    form = Form(calls)                      # calls of one form (eager_calls.py)
    form.kinds = {"input": {"kind": "normal", "scale": 1.0}}
    outputs = form.evaluate(function, shape, seed=1)

A shape says how large the tensors of a case are, and which numbers it has."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sandbox"))

import torch  # noqa: E402
from eager_calls import Call  # noqa: E402
from harness.imported.drawn import value_of  # noqa: E402
from harness.operator import Rng  # noqa: E402
from harness.wire.tensors import NAMES  # noqa: E402

Kinds = dict[str, dict[str, Any]]
Body = Callable[..., list[torch.Tensor]]


@dataclass(frozen=True)
class CaseShape:
    extents: dict[str, tuple[int, ...]]  # by the name of a tensor
    numbers: dict[str, Any]  # by the name of a number

    def elements(self) -> int:
        return sum(_product(extents) for extents in self.extents.values())


@dataclass
class NewCase:
    id: str
    hidden: bool
    shape: CaseShape
    outputs: list[tuple[int, ...]]
    inputs: dict[str, Any]  # the table of each argument
    small: bool  # the interpreter runs it


@dataclass
class Form:
    calls: list[Call]
    kinds: Kinds = field(default_factory=dict)
    written: list[str] = field(default_factory=list)
    scales: list[float] = field(default_factory=list)  # of the outputs
    cases: list[NewCase] = field(default_factory=list)
    counts_outputs: bool = True
    contiguous: set[str] = field(default_factory=set)
    on_cpu: set[str] = field(default_factory=set)  # paths of results (eager_devices.py)

    def __post_init__(self) -> None:
        self.written = list(self.first.written)

    @property
    def first(self) -> Call:
        return self.calls[0]

    @property
    def function(self) -> str:
        return self.first.function

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        return {leaf.name: leaf.value for leaf in self.first.tensors}

    @property
    def numbers(self) -> dict[str, Any]:
        return {
            leaf.name: leaf.value
            for leaf in self.first.leaves
            if not isinstance(leaf.value, torch.Tensor)
        }

    @property
    def outputs(self) -> list[tuple[str, torch.dtype, int, str]]:
        """The name, dtype, rank and source of each output."""
        found = [
            (f"y{i}", value.dtype, value.dim(), "")
            for i, (_, value) in enumerate(self.first.returned)
        ]
        tensors = self.tensors
        return found + [
            (f"{name}_after", tensors[name].dtype, tensors[name].dim(), name)
            for name in self.written
        ]

    def body(self) -> str:
        """Returns the lines of a function that makes the call and returns its new tensors."""
        lines = [f"    result = {self.first.text}"] if self.first.returned else []
        lines += [] if lines else [f"    {self.first.text}"]
        return "\n".join(lines)

    def selected(self) -> list[str]:
        paths = [f"result{path}" for path, _ in self.first.returned]
        return [f"{path}.contiguous()" if path in self.contiguous else path for path in paths]

    def reference_text(self) -> str:
        """Returns the text of the function `reference`."""
        lines = [f"def reference({', '.join(leaf.name for leaf in self.first.leaves)}):"]
        lines += [f"    {name} = {name}.clone()" for name in self.written]
        outputs = [*self.selected(), *self.written]
        lines += [self.body(), f"    return {outputs[0] if len(outputs) == 1 else joined(outputs)}"]
        return "\n".join(lines) + "\n"

    def shape_of(self, call: Call) -> CaseShape:
        return CaseShape(
            {leaf.name: tuple(leaf.value.shape) for leaf in call.tensors},
            {leaf.name: leaf.value for leaf in call.leaves if not torch.is_tensor(leaf.value)},
        )

    def arguments(self, shape: CaseShape, kinds: Kinds, seed: int) -> dict[str, Any]:
        rng = Rng(seed, "cpu")
        tensors = self.tensors
        return {
            leaf.name: value_of(
                kinds[leaf.name], shape.extents[leaf.name], tensors[leaf.name].dtype, rng
            )
            if leaf.name in tensors
            else shape.numbers[leaf.name]
            for leaf in self.first.leaves
        }


def joined(words: list[str]) -> str:
    return f"({', '.join(words)})"


def published_kind(value: torch.Tensor) -> dict[str, Any]:
    return {"kind": "values", "values": value.tolist()}


def dtype_name(dtype: torch.dtype) -> str:
    return NAMES[dtype]


def _product(extents: tuple[int, ...]) -> int:
    product = 1
    for extent in extents:
        product *= extent
    return product

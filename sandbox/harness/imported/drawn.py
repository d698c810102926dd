"""Makes the inputs of imported operators whose reference is a function of PyTorch.

    # This code is in a reference.py that an importer wrote.
    _INPUTS = Drawn(TABLES)  # JSON
    arguments = _INPUTS.inputs(case, rng)
    cost = _INPUTS.cost(case)

`TABLES` contains `arguments` and `outputs` (the dtype and the axes of each tensor, by name),
`counts_outputs`, and `inputs`. `inputs` describes, for each distribution, the value of each
argument: a number, or for a tensor one of KINDS with its parameters. All functions work on the
device `meta`, so a submission can be recorded before any inputs exist."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import torch

from harness.operator import Case, Cost, Rng
from harness.wire.tensors import DTYPES

Shape = tuple[int, ...]
Table = dict[str, Any]


def _wide(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype is torch.float64 else torch.float32


def _values(table: Table, shape: Shape, dtype: torch.dtype, rng: Rng) -> torch.Tensor:
    values = torch.tensor(table["values"], dtype=dtype, device=rng.device)
    return values.reshape(shape)


def _normal(table: Table, shape: Shape, dtype: torch.dtype, rng: Rng) -> torch.Tensor:
    return (rng.normal(shape, _wide(dtype)) * table["scale"]).to(dtype)


def _uniform(table: Table, shape: Shape, dtype: torch.dtype, rng: Rng) -> torch.Tensor:
    return rng.uniform(shape, _wide(dtype), table["low"], table["high"]).to(dtype)


def _integers(table: Table, shape: Shape, dtype: torch.dtype, rng: Rng) -> torch.Tensor:
    return rng.integers(shape, table["low"], table["high"], dtype)


def _size_of_square(shape: Shape) -> int:
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ValueError(f"the shape {shape} is not that of square matrices")
    return shape[-1]


def _positive_definite(table: Table, shape: Shape, dtype: torch.dtype, rng: Rng) -> torch.Tensor:
    factor = rng.normal(shape, _wide(dtype))
    size = _size_of_square(shape)
    one = torch.eye(size, dtype=factor.dtype, device=rng.device)
    return (table["scale"] * (factor @ factor.mT / size + one)).to(dtype)


def _dominant(table: Table, shape: Shape, dtype: torch.dtype, rng: Rng) -> torch.Tensor:
    """Returns matrices whose diagonal is larger than the rest, so they are far from singular."""
    drawn = rng.normal(shape, _wide(dtype))
    size = _size_of_square(shape)
    one = torch.eye(size, dtype=drawn.dtype, device=rng.device)
    return (table["scale"] * (drawn / math.sqrt(size) + 2.0 * one)).to(dtype)


def _lower(table: Table, shape: Shape, dtype: torch.dtype, rng: Rng) -> torch.Tensor:
    """Returns lower triangular matrices with a positive diagonal."""
    size = _size_of_square(shape)
    drawn = rng.normal(shape, _wide(dtype)).tril(-1) / math.sqrt(size)
    diagonal = rng.uniform(shape[:-1], _wide(dtype), 0.5, 1.5)
    return (table["scale"] * (drawn + torch.diag_embed(diagonal))).to(dtype)


# The kinds of tensors. The parameters of a kind are keys of its table.
KINDS: dict[str, Callable[[Table, Shape, torch.dtype, Rng], torch.Tensor]] = {
    "values": _values,
    "normal": _normal,
    "uniform": _uniform,
    "integers": _integers,
    "positive_definite": _positive_definite,
    "dominant": _dominant,
    "lower": _lower,
}


def value_of(table: Any, shape: Shape, dtype: torch.dtype, rng: Rng) -> Any:
    """Returns the value that a table describes. A table that is a number is the value itself."""
    return KINDS[table["kind"]](table, shape, dtype, rng) if isinstance(table, dict) else table


class Drawn:
    """The inputs and the cost of one imported operator (see the module's docstring)."""

    def __init__(self, tables: str) -> None:
        described = json.loads(tables)
        self._arguments: dict[str, list[Any]] = described["arguments"]
        self._outputs: dict[str, list[Any]] = described["outputs"]
        self._counts_outputs: bool = described["counts_outputs"]
        self._inputs: dict[str, dict[str, Any]] = described["inputs"]

    def inputs(self, case: Case, rng: Rng) -> dict[str, Any]:
        made = {}
        for name, table in self._inputs[case.distribution].items():
            if isinstance(table, dict):
                dtype, axes = self._arguments[name]
                shape = tuple(case.axes[axis] for axis in axes)
                made[name] = value_of(table, shape, DTYPES[dtype], rng)
            else:
                made[name] = table
        return made

    def cost(self, case: Case) -> Cost:
        """Returns a cost that no implementation can undercut. Nothing is known about what a function
        reads, so only the outputs count as traffic, and an operation for each element. The outputs
        of a function that returns little, such as a sum, do not count either: they have the same
        size in every case, and would make small cases look as large as others."""
        written, elements = _sizes(case, self._outputs)
        given, read = _sizes(case, self._arguments)
        counted = written if self._counts_outputs else 0
        return Cost(bytes=counted, untouched=written + given - counted, flops=elements + read)


def _sizes(case: Case, tensors: dict[str, list[Any]]) -> tuple[int, int]:
    """Returns the number of bytes and of elements of the tensors."""
    counts = [
        (math.prod(case.axes[axis] for axis in axes), DTYPES[dtype].itemsize)
        for dtype, axes in tensors.values()
    ]
    return sum(count * size for count, size in counts), sum(count for count, _ in counts)

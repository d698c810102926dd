"""Checks the cost of operators without arithmetic, which move elements. A kernel of such an operator
need not read more elements than it writes. If the cost counted more, for example a whole table of
which one row is read, the floor of the case would be above the time of every correct kernel, and
each grade would fail."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "sandbox"), str(ROOT / "measurements")]

from harness.operator import Operator  # noqa: E402
from operator_folders import operator_folders  # noqa: E402


def is_moved(value: Any) -> bool:
    """Returns whether the values of a tensor are elements that the operator moves, and not numbers
    of rows, masks or bounds."""
    return isinstance(value, torch.Tensor) and value.dtype.is_floating_point


def moves(operator: Operator) -> bool:
    """Returns whether the operator moves elements and computes nothing, with shapes that no seed
    decides."""
    cases = [operator.case(wire, "meta") for wire in operator.spec["cases"]]
    return all(
        operator.cost(case).flops == 0 and operator.shapes(case) is not None for case in cases
    )


def test_an_operator_without_arithmetic_reads_no_more_than_it_writes() -> None:
    checked = set()
    for folder in operator_folders([]):
        operator = Operator.load(folder)
        if not moves(operator):
            continue
        checked.add(folder.name)
        for wire in operator.spec["cases"]:
            case = operator.case(wire, "meta")
            cost = operator.cost(case)
            written = sum(
                torch.Size(operator.output_shape(output, case)).numel()
                * operator.dtype_of(output.dtype, case).itemsize
                for output in operator.outputs
            )
            beside = sum(
                value.nbytes
                for value in (operator.shapes(case) or {}).values()
                if isinstance(value, torch.Tensor) and not is_moved(value)
            )
            assert cost.bytes <= 2 * written + beside, (folder.name, wire["id"], cost)
    assert {"embedding_fwd", "gather_dim1"} <= checked


@pytest.mark.parametrize("name", ["embedding_fwd", "gather_dim1"])
def test_elements_that_no_index_names_are_not_counted(name: str) -> None:
    operator = Operator.load(operator_folders([name])[0])
    for wire in operator.spec["cases"]:
        case = operator.case(wire, "cpu")
        cost = operator.cost(case)
        arguments = operator.inputs(case, seed=1)
        indices = arguments["indices"]
        if name == "embedding_fwd":
            row = case.axes["dim"] * case.dtype.itemsize
            needed = len(indices[indices >= 0].unique()) * row
            moved = case.axes["tokens"] * row + indices.nbytes
            slack = 3 * row  # the indices that inputs() sets itself
        else:
            size = case.axes["cols"]
            sectors = (torch.arange(len(indices))[:, None] * size + indices) // 8
            needed = len(sectors.unique()) * 32
            moved = 2 * indices.nbytes
            slack = 32 * len(indices)
        counted = cost.bytes - moved
        assert counted <= 1.1 * needed + slack, (wire["id"], counted, needed)
        assert counted >= 0.5 * needed - slack or counted == indices.nbytes, (wire["id"], needed)

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


@pytest.mark.parametrize("folder", operator_folders([]), ids=lambda folder: folder.name)
def test_an_operator_without_arithmetic_reads_no_more_than_it_writes(folder: Path) -> None:
    operator = Operator.load(folder)
    for wire in operator.spec["cases"]:
        case = operator.case(wire, "meta")
        cost = operator.cost(case)
        described = operator.shapes(case)
        if cost.flops > 0 or described is None:
            return
        written = sum(
            torch.Size(operator.output_shape(output, case)).numel()
            * operator.dtype_of(output.dtype, case).itemsize
            for output in operator.outputs
        )
        beside = sum(
            value.nbytes
            for value in described.values()
            if isinstance(value, torch.Tensor) and not is_moved(value)
        )
        assert cost.bytes <= 2 * written + beside, (wire["id"], cost, written, beside)

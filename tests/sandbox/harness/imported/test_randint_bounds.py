"""Tests the bounds of torch.randint in all forms of its call."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from harness.imported.problem_draws import Draws
from harness.imported.randint_bounds import randint_bounds
from harness.operator import Rng

ROOT = Path(__file__).resolve().parents[4]
FORMS: list[tuple[tuple[Any, ...], dict[str, Any], tuple[int, int]]] = [
    ((10, (99,)), {}, (0, 10)),
    ((10, [9, 11]), {}, (0, 10)),
    ((10,), {"size": (99,)}, (0, 10)),
    ((), {"high": 10, "size": (99,)}, (0, 10)),
    ((6, 10, torch.Size([99])), {}, (6, 10)),
    ((6, 10), {"size": [99]}, (6, 10)),
    ((6,), {"high": 10, "size": (99,)}, (6, 10)),
    ((0,), {"high": 10, "size": (99,)}, (0, 10)),
    ((), {"low": 6, "high": 10, "size": (99,)}, (6, 10)),
    ((-6, -2, (99,)), {"dtype": torch.int32}, (-6, -2)),
    ((numpy.int64(6), numpy.int64(10), (99,)), {}, (6, 10)),
    ((6, torch.tensor(10), (99,)), {}, (6, 10)),
]


@pytest.mark.parametrize(("args", "kwargs", "bounds"), FORMS)
def test_the_bounds_of_a_call(
    args: tuple[Any, ...], kwargs: dict[str, Any], bounds: tuple[int, int]
) -> None:
    drawn = torch.randint(*args, **kwargs)  # torch accepts this form
    low, high = bounds
    assert randint_bounds(args, kwargs) == bounds
    assert low <= int(drawn.min()) and int(drawn.max()) < high


@pytest.mark.parametrize(("args", "kwargs", "bounds"), FORMS)
def test_a_draw_of_a_benchmark_has_the_bounds_of_its_call(
    args: tuple[Any, ...], kwargs: dict[str, Any], bounds: tuple[int, int]
) -> None:
    """Both importers of benchmarks replace such a draw by numbers of the case."""
    for folder in ("common", "tritonbench"):
        sys.path.insert(0, os.fspath(ROOT / "importers" / folder))
    from golden_draws import MODE
    from golden_draws import Draws as Noted

    with Noted() as noted:
        form = torch.randint(*args, **kwargs)
    dtype = str(form.dtype).removeprefix("torch.")
    assert noted.found == [("randint", list(form.shape), dtype, *bounds)]
    with Draws("given", Rng(1, "cpu")):
        drawn = torch.randint(*args, **kwargs)
    assert bounds[0] <= int(drawn.min()) and int(drawn.max()) < bounds[1]
    assert (drawn.shape, drawn.dtype) == (form.shape, form.dtype)
    names: dict[str, Any] = {"torch": torch}
    exec(MODE, names)
    with names["_Drawn"](form):
        assert torch.randint(*args, **kwargs) is form

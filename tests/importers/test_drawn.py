"""Tests the inputs and the cost of operators whose reference is a function of PyTorch."""

from __future__ import annotations

import json

import pytest
import torch
from harness.imported.drawn import KINDS, Drawn, value_of
from harness.operator import Case, Rng
from harness.operator.cases import ShapeRng

TABLES = {
    "arguments": {"x": ["float32", ["n", "m"]], "i": ["int64", ["n"]]},
    "outputs": {"y0": ["float32", ["n"]]},
    "counts_outputs": True,
    "inputs": {
        "fixed": {
            "x": {"kind": "values", "values": [[1.5, -2.0]]},
            "i": {"kind": "integers", "low": 2, "high": 5},
            "dim": 1,
        }
    },
}
PARAMETERS = {
    "values": {"values": [[1.0, 2.0], [3.0, 4.0]]},
    "uniform": {"low": 0.5, "high": 2.5},
    "integers": {"low": -3, "high": 4},
}


def case(device: str = "cpu") -> Case:
    return Case("one", {"n": 1, "m": 2}, torch.float32, "fixed", torch.device(device))


def of_kind(kind: str, rng: Rng, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    table = {"kind": kind, **PARAMETERS.get(kind, {"scale": 2.0})}
    made = value_of(table, (2, 2), dtype, rng)
    assert isinstance(made, torch.Tensor)
    return made


def test_inputs_have_the_described_values_and_sizes() -> None:
    drawn = Drawn(json.dumps(TABLES))
    made = drawn.inputs(case(), Rng(1, "cpu"))
    assert made["x"].tolist() == [[1.5, -2.0]] and made["dim"] == 1
    assert made["i"].shape == (1,) and 2 <= int(made["i"]) < 5
    described = drawn.inputs(case("meta"), ShapeRng())
    assert described["x"].shape == (1, 2) and described["x"].device.type == "meta"


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_reproducible_and_works_without_values(kind: str) -> None:
    assert torch.equal(of_kind(kind, Rng(1, "cpu")), of_kind(kind, Rng(1, "cpu")))
    assert of_kind(kind, ShapeRng()).shape == (2, 2)
    for dtype in (torch.float64, torch.float16):
        assert of_kind(kind, Rng(1, "cpu"), dtype).dtype is dtype


def test_kinds_of_matrices() -> None:
    rng = Rng(1, "cpu")
    large = (3, 8, 8)
    definite = value_of({"kind": "positive_definite", "scale": 1.0}, large, torch.float32, rng)
    assert bool((torch.linalg.eigvalsh(definite) > 0).all())
    lower = value_of({"kind": "lower", "scale": 1.0}, large, torch.float32, rng)
    assert torch.equal(lower, lower.tril()) and bool((lower.diagonal(dim1=-2, dim2=-1) > 0).all())
    dominant = value_of({"kind": "dominant", "scale": 1.0}, large, torch.float32, rng)
    assert bool((torch.linalg.svdvals(dominant) > 0.01).all())
    for kind in ("positive_definite", "lower", "dominant"):
        with pytest.raises(ValueError, match="square"):
            value_of({"kind": kind, "scale": 1.0}, (2, 3), torch.float32, rng)


def test_the_cost_is_no_more_than_any_implementation_needs() -> None:
    cost = Drawn(json.dumps(TABLES)).cost(case())
    assert (cost.bytes, cost.untouched, cost.flops) == (4, 16, 4)
    cost = Drawn(json.dumps({**TABLES, "counts_outputs": False})).cost(case())
    assert (cost.bytes, cost.untouched) == (0, 20)

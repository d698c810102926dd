"""Proposes kinds of inputs for the tensors of a call, from the values that the benchmark's test part
passes. The first proposals cover most values. The later ones are for functions that accept only some
values, such as positive numbers or positive definite matrices.

    for kinds in proposals(tensors): ...  # {"input": {"kind": "normal", "scale": 1.0}}"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from typing import Any

import torch
from eager_calls import Call
from eager_form import Kinds

Tensors = list[dict[str, torch.Tensor]]  # of each call, by name
MOST_CHOICES = 9  # for the integers of a call
OWN_RANGE = "own_range"
WIDE_INTEGERS = {"kind": "integers", "low": -9, "high": 10}
NORMAL = {"kind": "normal", "scale": 1.0}
POSITIVE = {"kind": "uniform", "low": 0.5, "high": 2.5}
UNIT = {"kind": "uniform", "low": -0.9, "high": 0.9}
ABOVE_ONE = {"kind": "uniform", "low": 1.5, "high": 3.5}
SHARE = {"kind": "uniform", "low": 0.05, "high": 0.95}


def proposals(calls: Tensors) -> Iterator[Kinds]:
    """Yields kinds for all tensors together. `calls` are the published tensors of each call."""
    names = list(calls[0])
    values = {name: [call[name] for call in calls] for name in names}
    floats = [name for name in names if calls[0][name].is_floating_point()]
    others = {name: _others(values[name]) for name in names if name not in floats}
    square = [name for name in floats if all(_is_square(x) for x in values[name])]
    seen: list[Kinds] = []
    for of_floats in (
        dict.fromkeys(floats, NORMAL),
        {name: _fitted(values[name]) for name in floats},
        dict.fromkeys(floats, POSITIVE),
        dict.fromkeys(floats, UNIT),
        dict.fromkeys(floats, SHARE),
        dict.fromkeys(floats, ABOVE_ONE),
        dict.fromkeys(floats, NORMAL) | _all(square, "positive_definite"),
        dict.fromkeys(floats, NORMAL) | _all(square, "dominant"),
        dict.fromkeys(floats, NORMAL) | _all(square, "lower"),
    ):
        for chosen in islice(product(*others.values()), MOST_CHOICES):
            kinds: Kinds = of_floats | dict(zip(others, chosen, strict=True))
            if kinds not in seen:
                seen.append(kinds)
                yield kinds


def _all(names: list[str], kind: str) -> Kinds:
    return {name: {"kind": kind, "scale": 1.0} for name in names}


def _others(values: list[torch.Tensor]) -> list[dict[str, Any]]:
    """Returns kinds for integers and booleans. Wide integers come first, because narrow ones are
    needed only for indexes."""
    if values[0].dtype is torch.bool:
        return [{"kind": "integers", "low": 0, "high": 2}]
    narrow = _range_of(values)
    unsigned = not values[0].dtype.is_signed
    wide = {"kind": "integers", "low": 0, "high": 100} if unsigned else WIDE_INTEGERS
    return [wide, narrow, {"kind": OWN_RANGE}]


def own_ranges(kinds: Kinds, call: Call) -> Kinds:
    """Returns the kinds for one call: an integer of the kind OWN_RANGE gets the range of the call's
    own values, because the indexes of a small call must be smaller than those of a large one."""
    values = {leaf.name: leaf.value for leaf in call.tensors}
    return {
        name: _range_of([values[name]]) if kind["kind"] == OWN_RANGE else kind
        for name, kind in kinds.items()
    }


def _range_of(values: list[torch.Tensor]) -> dict[str, Any]:
    low = min(int(value.min()) for value in values)
    return {"kind": "integers", "low": low, "high": max(int(value.max()) for value in values) + 1}


def _fitted(values: list[torch.Tensor]) -> dict[str, Any]:
    """Returns a kind whose values resemble the published ones."""
    if all(_is_positive_definite(value) for value in values):
        return {"kind": "positive_definite", "scale": 1.0}
    low = min(float(value.min()) for value in values)
    high = max(float(value.max()) for value in values)
    if low >= 0 and high <= 1:
        return {"kind": "uniform", "low": 0.0, "high": 1.0}
    if low > 0:
        return {"kind": "uniform", "low": 0.5 * low, "high": 1.5 * high}
    return {"kind": "normal", "scale": max(1.0, round(max(high, -low) / 2, 3))}


def _is_square(value: torch.Tensor) -> bool:
    return value.dim() >= 2 and value.shape[-1] == value.shape[-2] and value.shape[-1] > 1


def _is_positive_definite(value: torch.Tensor) -> bool:
    if not _is_square(value) or not bool(value.isfinite().all()):
        return False
    wide = value.double()
    if not bool(torch.allclose(wide, wide.mT)):
        return False
    return bool((torch.linalg.eigvalsh(wide) > 0).all())

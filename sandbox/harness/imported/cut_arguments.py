"""Cuts the arguments of a call to smaller sizes.

    arguments = cut([x, 128], {128: 111})  # x: (4, 128) -> its first 111 columns; 128 -> 111

Each extent that `sizes` names is cut in all tensors, because equal extents of a call usually belong
to one dimension. A cut tensor has the order of dimensions in memory of the original one. An integer
that is an extent, a stride or the number of elements of a tensor becomes that of the cut tensor.
Integers in a tensor may be positions in a dimension that is cut, or lengths of it, so they are
lowered to its new size (lowered_to()). The importer decides which cuts a golden kernel computes
rightly (importers/tritonbench/golden_other_shapes.py)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import torch

_CUT = re.compile(r"^call_(\d+)_cut_(\d+(?:_\d+)+)$")


class CannotCut(ValueError):
    """The arguments have no clear meaning in other sizes."""


def distribution_of(number: int, sizes: dict[int, int]) -> str:
    """Returns the distribution of a case whose inputs are those of call `number`, cut to `sizes`."""
    return f"call_{number}_cut_" + "_".join(f"{old}_{new}" for old, new in sorted(sizes.items()))


def number_of(distribution: str) -> int:
    """Returns the number of the call whose inputs a case has."""
    found = _CUT.match(distribution)
    return int(found[1] if found else distribution.removeprefix("call_"))


def sizes_of(distribution: str) -> dict[int, int]:
    """Returns the sizes of a distribution; empty if the case has those of the call."""
    found = _CUT.match(distribution)
    numbers = [int(word) for word in found[2].split("_")] if found else []
    return dict(zip(numbers[::2], numbers[1::2], strict=True))


def cut(values: Sequence[Any], sizes: dict[int, int]) -> list[Any]:
    """Returns the arguments in other sizes. Raises CannotCut."""
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    made = {id(tensor): _lowered(_cut_tensor(tensor, sizes), tensor, sizes) for tensor in tensors}
    meanings: dict[int, set[int]] = {}
    for tensor in tensors:
        smaller = made[id(tensor)]
        for old, new in (
            *zip(tensor.shape, smaller.shape, strict=True),
            *zip(tensor.stride(), smaller.stride(), strict=True),
            (tensor.numel(), smaller.numel()),
        ):
            meanings.setdefault(old, set()).add(new)
    return [
        made[id(value)]
        if isinstance(value, torch.Tensor)
        else _cut_number(value, meanings)
        if type(value) is int
        else value
        for value in values
    ]


def may_hold_positions(tensor: torch.Tensor) -> bool:
    """Returns False if the values are data. Integers of 8 bits are quantised numbers."""
    dtype = tensor.dtype
    return not dtype.is_floating_point and not dtype.is_complex and dtype.itemsize > 1


def lowered_to(highest: int, old: int, new: int) -> int:
    """Returns what `highest`, the highest value of a tensor, becomes if the extent `old` becomes
    `new`. It is a length if it is `old`, and a position if it is less. A higher value is neither."""
    if highest > old:
        return highest
    return min(highest, new if highest == old else new - 1)


def _lowered(smaller: torch.Tensor, tensor: torch.Tensor, sizes: dict[int, int]) -> torch.Tensor:
    """Lowers the values of the cut tensor in place."""
    if not may_hold_positions(tensor):
        return smaller
    highest = int(tensor.max())
    limit = min([lowered_to(highest, old, new) for old, new in sizes.items()], default=highest)
    return smaller if limit == highest else smaller.clamp_(max=limit)


def _cut_tensor(tensor: torch.Tensor, sizes: dict[int, int]) -> torch.Tensor:
    order = sorted(range(tensor.dim()), key=lambda dim: (-tensor.stride(dim), dim))
    dense = tensor.permute(order)
    if not dense.is_contiguous():
        raise CannotCut("a tensor has gaps in its memory")
    for dim, extent in enumerate(dense.shape):
        dense = dense.narrow(dim, 0, sizes.get(extent, extent))
    back = sorted(range(tensor.dim()), key=lambda dim: order[dim])
    return dense.clone(memory_format=torch.contiguous_format).permute(back)


def _cut_number(value: int, meanings: dict[int, set[int]]) -> int:
    found = meanings.get(value, {value})
    if len(found) > 1:
        raise CannotCut(f"the number {value} can become {sorted(found)}")
    return next(iter(found))

"""Which torch operations host code may use on device data, by what becomes of them. The one list of
dispatch.py, which records them, and host_watch.py, which holds a run without a GPU to the same
rules.

    if name in MOVES: ...                 # a fill or copy: work for the plan
    raise NotRecordable(why_not(func))    # everything that is on no list

Whatever is a view (`func.is_view`) costs nothing and needs no entry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch


def _aten(*names: str) -> frozenset[str]:
    return frozenset(f"aten::{name}" for name in names)


METADATA = _aten("is_pinned", "sym_size", "sym_stride", "sym_numel", "sym_storage_offset") | {
    "prim::device",
    "prim::layout",
}
ALIASES = _aten("detach", "alias", "lift_fresh", "_unsafe_view")  # views by another name
LIFTS = _aten(
    "lift_fresh", "lift_fresh_copy", "lift"
)  # what `torch.tensor([...])` does with its literal
ALLOCATIONS = _aten(
    "empty", "empty_strided", "empty_like", "new_empty", "new_empty_strided", "empty_permuted"
)
# Fresh tensors of one repeated element, and which element their positional arguments name.
UNIFORM: dict[str, Callable[[Sequence[Any]], Any]] = {
    "aten::zeros": lambda args: 0,
    "aten::zeros_like": lambda args: 0,
    "aten::new_zeros": lambda args: 0,
    "aten::ones": lambda args: 1,
    "aten::ones_like": lambda args: 1,
    "aten::new_ones": lambda args: 1,
    "aten::full": lambda args: args[1],
    "aten::full_like": lambda args: args[1],
    "aten::new_full": lambda args: args[2],
}
MOVES = _aten(
    "clone",
    "_to_copy",
    "copy_",
    "fill_",
    "zero_",
    "cat",
    "stack",
    "repeat",
    "constant_pad_nd",
    "_pin_memory",
)  # a conversion of the dtype is a copy
DRAWN_LIKE = _aten(
    "rand_like", "randn_like", "randint_like"
)  # random constants of a plan, in a fresh tensor
DRAWN_INTO = _aten("normal_", "uniform_", "random_")  # and into one that is there
_HOST_READS = {
    "aten::_local_scalar_dense": "reads the value of a device tensor on the host",
    "aten::equal": "compares device tensors on the host",
}


def replaceable(func: Any) -> str:
    """The name of an operation that a kernel of the submission could do instead; "" of a read on
    the host and of a result that no kernel can give."""
    name = str(func._schema.name)
    dynamic = (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape)
    return "" if name in _HOST_READS or any(tag in func.tags for tag in dynamic) else name


def why_not(func: Any) -> str:
    """Why an operation on device data that is on no list cannot be part of a plan."""
    name = func._schema.name
    if name in _HOST_READS:
        return f"{name} {_HOST_READS[name]}; a launch plan cannot depend on values that kernels compute"
    if torch.Tag.data_dependent_output in func.tags or torch.Tag.dynamic_output_shape in func.tags:
        return f"{name} gives a result whose shape or value depends on device data"
    return (
        f"{name} is arithmetic by torch on device data; a launch plan holds the submission's own kernels, allocations, fills, copies. "
        "Do it in a kernel"
    )

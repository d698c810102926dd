"""Lists the torch operations that host code may use on device data, grouped by their effect.
dispatch.py records these operations. host_watch.py applies the same rules to a run without a GPU.

    if name in MOVES: ...  # a fill or copy: work for the plan
    raise NotRecordable(why_not(func))  # an operation on no list

Most views (`func.is_view`) are on no list, because every view is allowed."""

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
ALIASES = _aten("detach", "alias", "lift_fresh", "_unsafe_view")  # these operations return views
# `torch.tensor([...])` applies these operations to the tensor that it creates from the list.
LIFTS = _aten("lift_fresh", "lift_fresh_copy", "lift")
ALLOCATIONS = _aten(
    "empty", "empty_strided", "empty_like", "new_empty", "new_empty_strided", "empty_permuted"
)
# Maps each operation that creates a tensor of equal elements to a function. The function takes the
# list of the operation's positional arguments, and returns the element.
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
# Operations that fill or copy. A conversion of the dtype counts as a copy.
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
)
DRAWN_LIKE = _aten("rand_like", "randn_like", "randint_like")
# Operations that fill a tensor with random numbers. A plan contains these numbers as constants.
DRAWN_INTO = _aten("normal_", "uniform_", "random_")
_HOST_READS = {
    "aten::_local_scalar_dense": "reads the value of a device tensor on the host",
    "aten::equal": "compares device tensors on the host",
}


def replaceable(func: Any) -> str:
    """Returns the operation's name if one of the submission's kernels could replace the operation.
    Returns "" if the operation reads values on the host, or if no kernel can give its result."""
    name = str(func._schema.name)
    dynamic = (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape)
    return "" if name in _HOST_READS or any(tag in func.tags for tag in dynamic) else name


def why_not(func: Any) -> str:
    """Explains why a plan cannot contain an operation on device data that is on none of the
    lists."""
    name = func._schema.name
    if name in _HOST_READS:
        return f"{name} {_HOST_READS[name]}; a launch plan cannot depend on values that kernels compute"
    if torch.Tag.data_dependent_output in func.tags or torch.Tag.dynamic_output_shape in func.tags:
        return f"{name} gives a result whose shape or value depends on device data"
    return (
        f"{name} is arithmetic by torch on device data; a launch plan holds the submission's own kernels, allocations, fills, copies. "
        "Do it in a kernel"
    )

"""Computes how much memory the inputs and the outputs of a case need.

size = output_bytes(rules, [arguments.get("x")])  # the second list has a value for each output

All functions are pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from harness.judging.compare import Rule
from harness.wire.tensors import aligned, span_bytes

# If an output has at most SMALL_BYTES, its memory is also large enough for a wrong, wider dtype,
# such as float64 in place of int8. If a larger output has a wider dtype, it does not fit, and the
# judge reports that.
WIDEST = 8
SMALL_BYTES = 1 << 20
SLACK_BYTES = 64 << 10
# The references of an imported case with more bytes of inputs and outputs are not computed before
# they are needed. They would take memory from the jobs that use the GPU before this case's job.
AHEAD_BYTES = 1 << 30


def bytes_of(value: Any) -> int:
    return value.numel() * value.element_size() if isinstance(value, torch.Tensor) else 0


def layout_of(value: torch.Tensor) -> tuple[torch.dtype, tuple[int, ...], tuple[int, ...]]:
    return value.dtype, tuple(value.shape), tuple(value.stride())


def bytes_of_rule(rule: Rule) -> int:
    return rule.dtype.itemsize * math.prod(rule.shape)


def span_of(value: Any) -> int:
    """Returns the bytes from the first to the last element of a tensor, or 0 for anything else."""
    if not isinstance(value, torch.Tensor):
        return 0
    return span_bytes(value.shape, value.stride(), value.element_size())


def output_bytes(rules: Sequence[Rule], sources: Sequence[Any]) -> int:
    """Returns the size of the memory for the outputs of a case. If an output is small, the memory is
    also large enough for a wider, wrong dtype, so that the wrong dtype can be reported. `sources`
    are the arguments that become the outputs, or None. Such an argument keeps its strides, so its
    gaps need memory too."""
    sizes = [
        max(bytes_of_rule(rule), span_of(value)) for rule, value in zip(rules, sources, strict=True)
    ]
    return SLACK_BYTES + sum(
        aligned(size * WIDEST if size <= SMALL_BYTES else size) for size in sizes
    )

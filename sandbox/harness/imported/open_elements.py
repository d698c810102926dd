"""Finds the open elements of outputs. An element is open if it depends on uninitialised memory. Open
elements are exempt from checking (docs/reference/glossary.md).

    # run(contents) returns the outputs when all uninitialised memory holds `contents`
    masks = open_elements(run, [0.01, 0.0])

The outputs are computed once for each of the Contents, and once more for the first of them. An
element is open if it is equal in the two runs with the same contents, and differs in a run with
other contents. Some code is nondeterministic because of a race or the order of atomic additions. In
the outputs of such code, two values count as different only if they differ by more than the
output's tolerance. So rounding makes no element open, and a race exempts no element.

A NaN hides on what it depends, because an operation on a NaN gives a NaN whatever the other operand
is. So if a call has open elements, all elements that are NaN in every run are open too. With what
another process finds in the same memory, such an element may be a number."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from harness.imported.surroundings import Contents
from harness.judging.compare import errors
from harness.wire.tensors import bits

Outputs = Sequence[torch.Tensor]


def open_elements(
    run: Callable[[Contents], Outputs], allowed: Sequence[float]
) -> list[torch.Tensor]:
    """Returns a mask for each output; the mask is true at open elements. `allowed` contains the
    maximum error of each output."""
    first, *others = [run(contents) for contents in Contents]
    again = run(next(iter(Contents)))
    masks = [
        _of_output(
            output, [other[position] for other in others], again[position], allowed[position]
        )
        for position, output in enumerate(first)
    ]
    if not any(bool(mask.any()) for mask in masks):
        return masks
    runs = (first, *others, again)
    return [
        mask | _always_nan([outputs[position] for outputs in runs])
        for position, mask in enumerate(masks)
    ]


def _of_output(
    first: torch.Tensor, others: Outputs, again: torch.Tensor, allowed: float
) -> torch.Tensor:
    if any(other.shape != first.shape or other.dtype != first.dtype for other in (*others, again)):
        # The output's shape depends on the contents, so no element is exempt.
        return torch.zeros(first.shape, dtype=torch.bool, device=first.device)
    steady = bits(first) == bits(again)
    if bool(steady.all()):
        differs = [bits(first) != bits(other) for other in others]
    else:
        steady = ~_differs(first, again, allowed)
        differs = [_differs(first, other, allowed) for other in others]
    return (steady & torch.stack(differs).any(0)).reshape(first.shape)


def _always_nan(same: Outputs) -> torch.Tensor:
    """Returns a mask that is true where each of the tensors, which are the same output of several
    runs, has a NaN."""
    first = same[0]
    if not first.is_floating_point() or any(
        other.shape != first.shape or other.dtype != first.dtype for other in same
    ):
        return torch.zeros(first.shape, dtype=torch.bool, device=first.device)
    return torch.stack([x.float().isnan() for x in same]).all(0)


def _differs(first: torch.Tensor, other: torch.Tensor, allowed: float) -> torch.Tensor:
    return errors(first.reshape(-1), other.reshape(-1), 1.0) > allowed

"""Which elements of an output nobody can be asked for: those that follow from memory that nobody
wrote.

    masks = open_elements(run, [0.01, 0.0])        # run(contents): the outputs, with such contents in all memory that nobody wrote

The outputs are computed with several contents, and with the first of them once more at the end. An
element is open when it is the same with the same contents and another with others. Code may also
differ from itself, by the order of atomic additions or a race: then, in such an output, only what
differs by more than the output's tolerance counts as another. So rounding opens nothing, and a race
is not let off."""

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
    """A mask for each output, true where it is open. `allowed`: the largest error that is right,
    for each."""
    first, *others = [run(contents) for contents in Contents]
    again = run(next(iter(Contents)))
    return [
        _of_output(
            output, [other[position] for other in others], again[position], allowed[position]
        )
        for position, output in enumerate(first)
    ]


def _of_output(
    first: torch.Tensor, others: Outputs, again: torch.Tensor, allowed: float
) -> torch.Tensor:
    if any(other.shape != first.shape or other.dtype != first.dtype for other in (*others, again)):
        return torch.zeros(
            first.shape, dtype=torch.bool, device=first.device
        )  # its form depends on them: compared as it is
    steady = bits(first) == bits(again)
    if bool(steady.all()):
        differs = [bits(first) != bits(other) for other in others]
    else:
        steady = ~_apart(first, again, allowed)
        differs = [_apart(first, other, allowed) for other in others]
    return (steady & torch.stack(differs).any(0)).reshape(first.shape)


def _apart(first: torch.Tensor, other: torch.Tensor, allowed: float) -> torch.Tensor:
    return errors(first.reshape(-1), other.reshape(-1), 1.0) > allowed

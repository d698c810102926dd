"""Did the submission's own kernels make these outputs? The judge's half of the ablation on a machine without a GPU.

    reason = unattributed(names, outputs, without, arguments)      # "" when they did

`without` are the outputs of a second run, in a process of its own, whose kernel launches did nothing and whose fresh memory held random
bytes. What is right there all the same was not made by a kernel. Two rules per output:
  - some element has to change: `operators lint` proves that neither zeros, a constant nor an input is ever a right answer;
  - most elements that are neither zero nor what an argument holds at the same place (work in place, a clone to start from) have to.
Pure functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch

MOST = 0.5  # of the elements that call for an explanation
COINCIDES = (torch.bool,)  # too few values: random ones are right half of the time

_WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def bits(values: torch.Tensor) -> torch.Tensor:
    """The elements in index order as integers of their size: NaNs compare, and zeros have signs."""
    return values.contiguous().reshape(-1).view(_WORDS[values.element_size()])


def unattributed(
    names: Sequence[str], outputs: Sequence[torch.Tensor], without: Sequence[torch.Tensor], arguments: Iterable[torch.Tensor]
) -> str:
    """Why an output counts as not made by kernels; "" when all were. `outputs` have the right dtypes and shapes."""
    if len(without) != len(outputs):
        return ""  # without its kernels it returns something else altogether
    given = list(arguments)
    for name, full, rest in zip(names, outputs, without, strict=True):
        if full.dtype != rest.dtype or full.shape != rest.shape or full.numel() == 0:
            continue
        if reason := _of_output(name, full, rest, given):
            return reason
    return ""


def _of_output(name: str, full: torch.Tensor, rest: torch.Tensor, given: Sequence[torch.Tensor]) -> str:
    got = bits(full)
    same = got == bits(rest)
    if bool(same.all()):
        return f"output {name} is the same, bit for bit, when none of the submission's kernels run"
    if full.dtype in COINCIDES:
        return ""
    open_ = got != 0
    for argument in given:
        if argument.dtype == full.dtype and argument.numel() == full.numel():
            open_ &= got != bits(argument)
    unexplained, total = int((same & open_).sum()), int(open_.sum())
    if unexplained <= MOST * total:
        return ""
    return f"{unexplained} of {full.numel()} elements of output {name} are the same when none of the submission's kernels run"

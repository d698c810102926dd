"""Did the submission's own kernels make these outputs? The judge's half of the ablation on a
machine without a GPU.

    reason = unattributed(names, outputs, without, arguments, masks)      # "" when they did

`without` are the outputs of a second run, in a process of its own, whose kernel launches did
nothing and whose fresh memory held random bytes. What is right there all the same was not made by a
kernel. Two rules per output:
  - some element has to change: `operators lint` proves that neither zeros, a constant nor an input is ever a right answer;
  - most elements that are neither zero nor what an argument holds at the same place (work in place, a clone to start from) have to.
Of an imported operator (`imported`) nobody proved the first: there an output that is right and, bit
for bit, an argument of its type and shape calls for no kernel: the golden code hands it through, or
leaves it as it was. Open elements call for none in any operator. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch

from harness.wire.tensors import bits

MOST = 0.5  # of the elements that call for an explanation
COINCIDES = (torch.bool,)  # too few values: random ones are right half of the time


def unattributed(
    names: Sequence[str],
    outputs: Sequence[torch.Tensor],
    without: Sequence[torch.Tensor],
    arguments: Iterable[torch.Tensor],
    masks: Sequence[torch.Tensor] = (),
    imported: bool = False,
) -> str:
    """Why an output counts as not made by kernels; "" when all were. `outputs` have the right
    dtypes and shapes; `masks`: what is open; `imported`: of an operator whose answers may be its
    arguments."""
    if len(without) != len(outputs):
        return ""  # without its kernels it returns something else altogether
    given = [argument.to(outputs[0].device) for argument in arguments] if outputs else []
    for position, (name, full, rest) in enumerate(zip(names, outputs, without, strict=True)):
        if full.dtype != rest.dtype or full.shape != rest.shape or full.numel() == 0:
            continue
        asked = (
            ~masks[position].reshape(-1).to(full.device)
            if masks
            else torch.ones(full.numel(), dtype=torch.bool, device=full.device)
        )
        if reason := _of_output(name, full, rest, given, asked, imported):
            return reason
    return ""


def _of_output(
    name: str,
    full: torch.Tensor,
    rest: torch.Tensor,
    given: Sequence[torch.Tensor],
    asked: torch.Tensor,
    imported: bool,
) -> str:
    got = bits(full)
    same = got == bits(rest)
    if not bool(asked.any()):
        return ""
    if bool((same | ~asked).all()):
        if imported and any(
            x.dtype == full.dtype
            and x.shape == full.shape
            and bool(((got == bits(x)) | ~asked).all())
            for x in given
        ):
            return ""
        return f"output {name} is the same, bit for bit, when none of the submission's kernels run"
    if full.dtype in COINCIDES:
        return ""
    unexplained = asked & (got != 0)
    for argument in given:
        if argument.dtype == full.dtype and argument.numel() == full.numel():
            unexplained &= got != bits(argument)
    unchanged, total = int((same & unexplained).sum()), int(unexplained.sum())
    if unchanged <= MOST * total:
        return ""
    return f"{unchanged} of {full.numel()} elements of output {name} are the same when none of the submission's kernels run"

"""Decides if the submission's own kernels made the outputs. This is the judge's half of the
ablation.

    reason = unattributed(names, outputs, without, arguments, masks)  # "" if the kernels made them

`without` holds the outputs of a second run, which lack the results of the kernels. An output that
is right even so was not made by a kernel. Nor can it be shown that a kernel made an output which has
another number, type, shape or strides in the second run: kernels decide none of these, so the host
code told the runs apart. Two more rules apply to each output:
  - Some element must change. (`operators lint` proves that neither zeros, a constant nor an input is
    ever a right answer.)
  - Of the elements that are neither zero nor equal to an argument's element at the same place, most
    must change. (The exception covers work in place and a clone as a start.)
For an imported operator (`imported`) nothing proves the first rule. If such an output is right and
is bit for bit an argument of its type and shape, it needs no kernel: the golden code returns the
argument, or leaves it unchanged. Open elements need no kernel in any operator. All functions are
pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch

from harness.wire.tensors import bits, name_of

MOST = 0.5  # share of the elements that need an explanation
# Types with so few values that random ones are right half of the time.
COINCIDES = (torch.bool,)


def unattributed(
    names: Sequence[str],
    outputs: Sequence[torch.Tensor],
    without: Sequence[torch.Tensor],
    arguments: Iterable[torch.Tensor],
    masks: Sequence[torch.Tensor] = (),
    imported: bool = False,
) -> str:
    """Returns the reason why an output counts as not made by kernels, or "" if all were. `outputs`
    have the right dtypes and shapes. `masks` are true at open elements. `imported` means that the
    operator is imported, so that its right answers may equal its arguments."""
    if len(without) != len(outputs):
        return f"it returns {len(without)} outputs, not {len(outputs)}, when none of the submission's kernels run"
    given = [argument.to(outputs[0].device) for argument in arguments] if outputs else []
    for position, (name, full, rest) in enumerate(zip(names, outputs, without, strict=True)):
        if _form(full) != _form(rest):
            return f"output {name} is {_form(rest)}, not {_form(full)}, when none of the submission's kernels run"
        if full.numel() == 0:
            continue
        asked = (
            ~masks[position].reshape(-1).to(full.device)
            if masks
            else torch.ones(full.numel(), dtype=torch.bool, device=full.device)
        )
        if reason := _of_output(name, full, rest, given, asked, imported):
            return reason
    return ""


def _form(tensor: torch.Tensor) -> str:
    return f"{name_of(tensor.dtype)} {list(tensor.shape)} with strides {list(tensor.stride())}"


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

"""Decides whether the submission's own kernels computed the outputs. For this, the judge compares
the outputs with those of an ablated run, in which the results of the kernels are missing.

    reason = unattributed(names, outputs, without, arguments, masks)  # "" if the kernels made them

`without` contains the outputs of the ablated run. If an output is right in that run too, no kernel
computed it. The number, the dtypes, the shapes and the strides of the outputs must be equal in both
runs. Kernels decide none of these, so a difference shows that the host code recognised the ablated
run. Two more rules apply to each output:
  - At least one element must differ between the two runs. `operators lint` proves for each operator
    that an output of zeros, of a constant or of an input is never right.
  - At least half of the elements that need a computation must differ between the two runs. An
    element needs no computation if it is zero, or if it equals the element at the same index of any
    argument with the same dtype and number of elements. This allows work in place, and outputs that
    start as a clone of an argument. The rule does not apply to bool outputs.
An imported operator (`imported`) has no such proof by `operators lint`. A right output of such an
operator may equal an argument of the same dtype and shape bit for bit. Such an output needs no
kernel, because the imported code also returns the argument or leaves it unchanged. For every
operator, the rules ignore elements that are exempt from checking. All functions are pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch

from harness.wire.tensors import bits, name_of

MOST = 0.5  # the maximum share of elements that may be equal in both runs (second rule)
# The dtypes with only two values. Half of the random elements of such a dtype are right by chance,
# so the second rule does not apply.
COINCIDES = (torch.bool,)


def unattributed(
    names: Sequence[str],
    outputs: Sequence[torch.Tensor],
    without: Sequence[torch.Tensor],
    arguments: Iterable[torch.Tensor],
    masks: Sequence[torch.Tensor] = (),
    imported: bool = False,
) -> str:
    """Returns the reason why an output was not computed by kernels, or "" if all outputs were. The
    dtypes and shapes of `outputs` must be correct. `masks` are true at elements that are exempt
    from checking. `imported` means that the operator is imported, so its right answers may equal
    its arguments."""
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


def computed_by_torch(names: Sequence[str], by_kernels: Sequence[bool]) -> str:
    """Returns which output depends on what torch has computed from the inputs, or ""."""
    for name, is_by_kernels in zip(names, by_kernels, strict=True):
        if not is_by_kernels:
            return (
                f"output {name} depends on arithmetic by torch, or on memory that something other than "
                "a kernel or an operation of torch has written. Torch may allocate, fill, copy, "
                "convert, scale by a number and check results; do the rest in a kernel"
            )
    return ""


def equals_an_argument(
    given: Sequence[torch.Tensor], output: torch.Tensor, mask: torch.Tensor
) -> bool:
    """Returns True if the output equals one of these arguments, bit for bit, except where the mask is
    true."""
    return any(
        x.dtype == output.dtype
        and x.shape == output.shape
        and bool(((bits(output) == bits(x)) | mask.reshape(-1)).all())
        for x in given
    )


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
        if imported and equals_an_argument(given, full, ~asked):
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

"""Computes the wrong answers of kernels that take a shortcut. A shortcut leaves out work that usual
inputs do not need. An operator declares input distributions for which such answers are wrong, and
`operators lint` checks that they are wrong.

    outputs = shortcut(operator, case, arguments, adversary, "forget_past")

- skip_negligible: the kernel leaves out distant keys of an attention, or small weights of a sum.
- forget_past: the kernel computes four parts of a recurrence in parallel. For each part, it starts
  at the preceding part, with an empty state.
- drop_maximum: the kernel subtracts 0 instead of the maximum in a softmax or a log-sum-exp.

If an operator has a function `shortcuts`, the answers come from this function. Otherwise they come
from the operator's reference, which is called with a part of the arguments along the declared axis,
or with some of torch's functions replaced. Use this module from one thread at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from harness.operator import Adversary, Arguments, Case, Operator, OperatorError

SHORTCUTS = ("skip_negligible", "forget_past", "drop_maximum")
PARTS = 4


def shortcut(
    operator: Operator, case: Case, arguments: Arguments, adversary: Adversary, name: str
) -> list[torch.Tensor]:
    """Returns the outputs of a kernel that takes the shortcut `name`."""
    own = operator.own_shortcuts(arguments)
    if name in own:
        return own[name]
    if name == "drop_maximum":
        with _WithoutMaximum():
            return operator.reference(arguments)
    if not adversary.axis:
        raise OperatorError(
            f"{operator.folder / 'spec.toml'}: [[adversarial]] {adversary.distribution!r} breaks {name!r}: "
            f"name the `axis` that it leaves out, or define shortcuts() in reference.py that returns {name!r}"
        )
    return _in_parts(operator, case, arguments, adversary.axis)


def _in_parts(
    operator: Operator, case: Case, arguments: Arguments, axis: str
) -> list[torch.Tensor]:
    """Divides the inputs into parts along the axis. Computes the outputs of each part from only
    this part and the part before it."""
    length = case.axes[axis]
    part = -(-length // PARTS)
    pieces: list[list[torch.Tensor]] = [[] for _ in operator.outputs]
    for own in range(0, length, part):
        first, end = max(0, own - part), min(length, own + part)
        seen = dict(arguments)
        for argument in operator.arguments:
            if axis in argument.shape:
                dim = argument.shape.index(axis)
                seen[argument.name] = arguments[argument.name].narrow(dim, first, end - first)
        for at, (output, value) in enumerate(
            zip(operator.outputs, operator.reference(seen), strict=True)
        ):
            if axis in output.shape:
                value = value.narrow(output.shape.index(axis), own - first, end - own)
                pieces[at].append(value)
            else:
                pieces[at] = [value]
    return [
        torch.cat(values, output.shape.index(axis)) if axis in output.shape else values[0]
        for output, values in zip(operator.outputs, pieces, strict=True)
    ]


def _softmax(x: torch.Tensor, dim: int, *_: Any, **__: Any) -> torch.Tensor:
    weight = x.exp()
    return weight / weight.sum(dim, keepdim=True)


def _logsumexp(x: torch.Tensor, dim: int | tuple[int, ...], keepdim: bool = False) -> torch.Tensor:
    return x.exp().sum(dim, keepdim).log()


def _log_softmax(x: torch.Tensor, dim: int, *_: Any, **__: Any) -> torch.Tensor:
    return x - x.exp().sum(dim, keepdim=True).log()


def _no_maximum(x: torch.Tensor, dim: Any = (), keepdim: bool = False) -> torch.Tensor:
    return torch.zeros_like(x.sum(dim, keepdim))


REPLACED: dict[Any, Callable[..., torch.Tensor]] = {
    torch.softmax: _softmax,
    torch.Tensor.softmax: _softmax,
    torch.nn.functional.softmax: _softmax,
    torch.log_softmax: _log_softmax,
    torch.Tensor.log_softmax: _log_softmax,
    torch.nn.functional.log_softmax: _log_softmax,
    torch.logsumexp: _logsumexp,
    torch.Tensor.logsumexp: _logsumexp,
    torch.amax: _no_maximum,
    torch.Tensor.amax: _no_maximum,
}


class _WithoutMaximum(TorchFunctionMode):
    """Makes every softmax and log-sum-exp subtract 0 and not the maximum. Some references compute
    the maximum themselves, by amax() or by scatter_reduce(..., "amax"). So these functions are
    replaced too."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if func in (torch.Tensor.scatter_reduce, torch.scatter_reduce) and "amax" in args:
            return torch.zeros_like(args[0])
        return REPLACED.get(func, func)(*args, **kwargs)

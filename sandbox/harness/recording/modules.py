"""Lets a torch.nn.Module move to a device, or to another dtype, while a plan is recorded.

    install()  # once in a process
    torch.nn.Linear(4, 4).cuda()  # on fake tensors

torch exchanges the contents of two tensors when a fake parameter moves, and this fails if anything
refers to one of them. The recorder refers to every tensor. So this module gives the moved module a
new parameter instead. A parameter that two modules share becomes two parameters with equal
contents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

_original = torch.nn.Module._apply


def install() -> None:
    torch.nn.Module._apply = _apply  # type: ignore[method-assign]


def _apply(
    self: torch.nn.Module, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True
) -> torch.nn.Module:
    tensors = [*self._parameters.values(), *self._buffers.values()]
    if not any(isinstance(tensor, FakeTensor) for tensor in tensors):
        return _original(self, fn, recurse)
    for child in self.children() if recurse else ():
        child._apply(fn)
    for name, parameter in self._parameters.items():
        if parameter is not None:
            with torch.no_grad():
                moved: Any = fn(parameter)
            self._parameters[name] = torch.nn.Parameter(moved, parameter.requires_grad)
    for name, buffer in self._buffers.items():
        if buffer is not None:
            self._buffers[name] = fn(buffer)
    return self

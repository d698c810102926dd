"""Proxies for the definitions of a golden file's kernel part. The test part gets the proxies, and
each use of a proxy is a call. The importer and the judge use the same proxies, so both count the
same calls.

    # called(name, function, args, kwargs) returns the result of the call
    names = {name: proxy_of(name, value, MODULE, called) for name, value in vars(module).items()}

These are calls: a function of the kernel part; `apply` and `forward` of an autograd.Function; the
launch of a kernel (Launch); the call of an object whose class is a torch.nn.Module of the kernel
part (Made). The leaves of a call's arguments are its tensors, numbers and constants. An object of a
class of the kernel part counts as the arguments with which it was made, and another torch.nn.Module
as its parameters and buffers. A function that computes a grid counts as the numbers that it uses
(grids.py)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_flatten

from harness.imported.grids import Grid, grid_of

Called = Callable[[str, Any, Any, Any], Any]
# The name of an attribute of objects of the kernel part's classes. It contains the class, and the
# arguments with which the object was created.
MADE = "_assay_made"
AUTOGRAD_CALLS = ("apply", "forward")


@dataclass(frozen=True)
class Launch:
    """Launches a kernel. Its arguments are the grid and the kernel's own arguments."""

    kernel: Any

    def __call__(self, grid: Any, args: Any, **kwargs: Any) -> Any:
        return self.kernel[grid](*args, **kwargs)


@dataclass(frozen=True)
class Made:
    """Makes an object and calls it. Its arguments are those of the object and those of the call."""

    kind: type

    def __call__(self, made_args: Any, made_kwargs: Any, args: Any, **kwargs: Any) -> Any:
        return self.kind(*made_args, **made_kwargs)(*args, **kwargs)


def leaves(value: Any) -> list[Any]:
    """Returns the leaves of a call's arguments, in order."""
    found: list[Any] = []
    for leaf in tree_flatten(value)[0]:
        if isinstance(leaf, Grid):
            found += leaf.values.values()
        elif (made := made_with(leaf)) is not None:
            found += leaves(made[1:])
        elif isinstance(leaf, torch.nn.Module):
            found += state(leaf).values()
        else:
            found.append(leaf)
    return found


def made_with(value: Any) -> tuple[type, Any, Any] | None:
    """Returns (class, args, kwargs) of an object that a proxy has made, or None."""
    return getattr(value, "__dict__", {}).get(MADE) if not isinstance(value, type) else None


def state(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Returns the parameters and buffers of a module by name."""
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


def is_kernel(value: Any) -> bool:
    return hasattr(value, "run") and hasattr(value, "fn") and hasattr(value, "__getitem__")


def proxy_of(name: str, value: Any, module: str, called: Called) -> Any:
    """Returns a proxy for `value` if it is a kernel, or a function or class that the module named
    `module` defines. Returns every other value unchanged."""
    if is_kernel(value):
        return KernelProxy(name, value, called)
    if isinstance(value, type) and value.__module__ == module:
        if issubclass(value, torch.autograd.Function):
            return FunctionProxy(name, value, called)
        return value if issubclass(value, BaseException) else ClassProxy(name, value, called)
    owner = getattr(value, "__self__", None)
    is_apply = isinstance(owner, type) and owner.__module__ == module
    if (callable(value) and getattr(value, "__module__", None) == module) or is_apply:
        return lambda *args, **kwargs: called(name, value, args, kwargs)
    return value


class KernelProxy:
    """A proxy for a kernel that the test part launches directly."""

    def __init__(self, name: str, kernel: Any, called: Called) -> None:
        self._name, self._kernel, self._called = name, kernel, called

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        return lambda *args, **kwargs: self._called(
            self._name, Launch(self._kernel), (self._grid(grid, args, kwargs), args), kwargs
        )

    def _grid(self, grid: Any, args: Any, kwargs: Any) -> Any:
        if not callable(grid):
            return grid
        # A grid that needs no configuration of the kernel is a tuple of numbers.
        given = dict(zip(getattr(self._kernel, "arg_names", ()), args, strict=False))
        with contextlib.suppress(KeyError, TypeError):
            return tuple(grid({**given, **kwargs}))
        return grid_of(grid)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)


class FunctionProxy:
    """A proxy for an autograd.Function."""

    def __init__(self, name: str, function: Any, called: Called) -> None:
        self._name, self._function, self._called = name, function, called

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._function, name)
        if name not in AUTOGRAD_CALLS:
            return value
        return lambda *args, **kwargs: self._called(f"{self._name}.{name}", value, args, kwargs)


class ClassProxy:
    """A proxy for a class that the golden file's kernel part defines. The golden file's test part
    creates objects through the proxy, and they keep the arguments with which they were created. If
    an object is a torch.nn.Module, each call of the object is a call."""

    def __init__(self, name: str, kind: type, called: Called) -> None:
        self._name, self._kind, self._called = name, kind, called

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        made = self._kind(*args, **kwargs)
        if hasattr(made, "__dict__"):
            vars(made)[MADE] = (self._kind, args, kwargs)
        if not isinstance(made, torch.nn.Module):
            return made
        called, name, kind = self._called, self._name, self._kind

        def call(_: Any, *given: Any, **named: Any) -> Any:
            return called(name, Made(kind), (args, kwargs, given), named)

        made.__class__ = type(name, (kind,), {"__call__": call})
        return made

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kind, name)

"""Makes proxies for the definitions of a golden file's kernel part. The test part gets the proxies,
and each use of a proxy is recorded as a call.

    # record(name, function, args, kwargs) returns the result of a call
    names["softmax"] = proxy_of("softmax", module.softmax, MODULE, record)"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from golden_arguments import MADE

Record = Callable[[str, Callable[..., Any], Any, Any], Any]


def proxy_of(name: str, value: Any, module: str, record: Record) -> Any:
    """Returns a proxy for `value` if it is a kernel, or a function or class that the module named
    `module` defines. Returns every other value unchanged."""
    if hasattr(value, "run") and hasattr(value, "fn") and hasattr(value, "__getitem__"):
        return KernelProxy(name, value, record)
    if isinstance(value, type) and value.__module__ == module:
        return (
            FunctionProxy(name, value, record)
            if issubclass(value, torch.autograd.Function)
            else ClassProxy(name, value, record)
        )
    owner = getattr(value, "__self__", None)
    is_apply = isinstance(owner, type) and owner.__module__ == module
    if (callable(value) and getattr(value, "__module__", None) == module) or is_apply:
        return lambda *args, **kwargs: record(name, value, args, kwargs)
    return value


class KernelProxy:
    """A proxy for a kernel that the test part launches directly."""

    def __init__(self, name: str, kernel: Any, record: Record) -> None:
        self._name, self._kernel, self._record = name, kernel, record

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        return lambda *args, **kwargs: self._record(self._name, self._kernel[grid], args, kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)


class FunctionProxy:
    """A proxy for an autograd.Function."""

    def __init__(self, name: str, function: Any, record: Record) -> None:
        self._name, self._function, self._record = name, function, record

    def apply(self, *args: Any, **kwargs: Any) -> Any:
        return self._record(f"{self._name}.apply", self._function.apply, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._function, name)
        return (
            (lambda *args, **kwargs: self._record(f"{self._name}.{name}", value, args, kwargs))
            if callable(value)
            else value
        )


class ClassProxy:
    """A proxy for a class that the golden file's kernel part defines. The golden file's test part
    creates objects through the proxy. If an object is a torch.nn.Module, each call of the object is
    recorded. Another object only keeps the arguments with which it was created."""

    def __init__(self, name: str, kind: type, record: Record) -> None:
        self._name, self._kind, self._record = name, kind, record

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        made = self._kind(*args, **kwargs)
        if not isinstance(made, torch.nn.Module):
            if hasattr(made, "__dict__"):
                vars(made)[MADE] = (self._kind, args, kwargs)
            return made
        original = type(made).__call__
        record, name = self._record, self._name
        recorded = type(
            self._name,
            (self._kind,),
            {
                "__call__": lambda self, *a, **k: record(
                    name, lambda module, *b, **c: original(module, *b, **c), (self, *a), k
                )
            },
        )
        made.__class__ = recorded
        return made

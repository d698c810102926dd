"""Finds tensors in what an operation of torch, or a launch, gets.

tensors_of(arguments)  # those of a launch
written(func, args, kwargs)  # those that an operation writes"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from triton.language.core import constexpr
from triton.runtime.jit import TensorWrapper

from harness.triton_adapter.launches import Address
from harness.triton_adapter.plain_arguments import is_descriptor


def is_of_torch(func: Any) -> bool:
    return func.namespace in ("aten", "prims")


def is_composite(func: Any) -> bool:
    """Returns True for an operation of torch that only calls other operations."""
    return is_of_torch(func) and torch._C._dispatch_has_kernel_for_dispatch_key(
        func.name(), "CompositeImplicitAutograd"
    )


def tensors_in(value: Any) -> list[torch.Tensor]:
    return [one for one in tree_leaves(value) if isinstance(one, torch.Tensor)]


def named(func: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """Returns the values that an operation gets, by the names of its parameters."""
    names = [argument.name for argument in func._schema.arguments]
    return {**dict(zip(names, args, strict=False)), **kwargs}


def written_names(func: Any) -> set[str]:
    """Returns the names of the parameters whose values the operation writes."""
    parameters = func._schema.arguments
    return {one.name for one in parameters if one.alias_info and one.alias_info.is_write}


def written(func: Any, args: Any, kwargs: Any) -> list[torch.Tensor]:
    """Returns the operands that the operation writes."""
    names, given = written_names(func), named(func, args, kwargs)
    return [
        tensor for name, value in given.items() if name in names for tensor in tensors_in(value)
    ]


def call(mode: TorchDispatchMode, func: Any, args: Any, kwargs: Any) -> Any:
    """Calls the operation. If it is not one of torch's own, runs its body for the device of its
    operands, so that `mode` sees the operations of the body. So it sees the parts of a composite
    operation too."""
    if is_composite(func):
        with mode:
            return func.decompose(*args, **kwargs)
    operands = tensors_in((args, kwargs))
    if operands and not is_of_torch(func):
        kinds = [one.device.type for one in operands]
        kind = next((kind for kind in kinds if kind != "cpu"), "cpu")
        key = torch._C._dispatch_key_for_device(kind)  # type: ignore[attr-defined]
        if torch._C._dispatch_has_computed_kernel_for_dispatch_key(func.name(), key):
            with mode:
                keys = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, key))
                return func.redispatch(keys, *args, **kwargs)
    return func(*args, **kwargs)


def leaves_of(value: Any) -> Iterator[Any]:
    """Yields what a launch's argument contains, in dictionaries, tuples, lists and descriptors at
    any depth."""
    if isinstance(value, dict):
        for part in value.values():
            yield from leaves_of(part)
    elif isinstance(value, tuple | list):
        for part in value:
            yield from leaves_of(part)
    elif type(value) is constexpr:
        yield from leaves_of(value.value)
    elif is_descriptor(value):  # a kernel can read all of them
        yield from leaves_of([value.base, value.shape, value.strides])
    else:
        yield value


def addresses_of(value: Any) -> Iterator[int | None]:
    """Yields the addresses that a launch's argument passes instead of tensors: None if only the
    launch finds out."""
    for leaf in leaves_of(value):
        if isinstance(leaf, Address):
            yield int(leaf)
        elif not isinstance(leaf, torch.Tensor | TensorWrapper) and hasattr(leaf, "data_ptr"):
            yield None


def tensors_of(value: Any) -> Iterator[torch.Tensor]:
    """Yields the tensors of a launch's argument. For a reinterpreted tensor, yields the tensor to
    which it refers."""
    for leaf in leaves_of(value):
        if isinstance(leaf, torch.Tensor):
            yield leaf
        elif (base := getattr(leaf, "base", None)) is not None:
            yield from tensors_of(base)

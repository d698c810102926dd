"""Replaces the arguments of a launch by values that have no code of the submission.

    given = tuple(plain(one, Address) for one in arguments)
    ...                                            # looks at the arguments
    launcher(*map(with_fixed_addresses, given))

Several functions look at a launch's arguments: they find tensors and addresses in them, and at last
the launcher reads them. An object of a class of the submission could show a different address to
each of them: by data_ptr(), by __index__(), or by the iterator of its own kind of tuple. So each
argument is read once, here, and nothing else ever sees the object. A submission can also replace
torch.Tensor.data_ptr for all tensors. So a launcher gets addresses that torch's own function has
found, and no tensors."""

from __future__ import annotations

import copy
import sys
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from triton.language.core import constexpr, dtype, pointer_type
from triton.runtime.interpreter import InterpretedFunction
from triton.runtime.jit import JITFunction, TensorWrapper

_TENSORS = (torch.Tensor, torch.nn.Parameter)
# What torch has before a submission is imported: a zygote imports this module.
_ADDRESS_OF, _DTYPE_OF = torch._C.TensorBase.data_ptr, torch._C.TensorBase.dtype  # type: ignore[attr-defined]
# Values of these classes have no address.
_CONSTANTS = (bool, torch.dtype, dtype, pointer_type, JITFunction, InterpretedFunction)
_NUMPY = frozenset(np.sctypeDict.values())
# The classes of descriptors, by module and name. Gluon is imported only if something needs it.
_DESCRIPTORS = (
    ("triton.tools.tensor_descriptor", "TensorDescriptor"),
    ("triton.experimental.gluon.nvidia.hopper", "TensorDescriptor"),
    ("triton.experimental.gluon.nvidia.hopper", "TensorDescriptorIm2Col"),
)


class Pointer:
    """Stands for a tensor, or for an object with a data_ptr() of its own."""

    def __init__(self, dtype: Any, address: int) -> None:
        self.dtype, self._address = dtype, address

    def data_ptr(self) -> int:
        return self._address


def is_torchs(argument: Any) -> bool:
    """Returns True for a tensor whose data_ptr() is torch's."""
    return type(argument) in _TENSORS and "data_ptr" not in vars(argument)


def plain(argument: Any, pointer: Callable[[Any, Any], Any]) -> Any:
    """Returns a value without code of the submission. If the argument is an object with a data_ptr()
    of its own, returns `pointer(argument, address)`. Returns None for another object of an unknown
    class: a launcher does not read the constants of a compiled kernel."""
    kind = type(argument)
    if argument is None or kind in _CONSTANTS or is_torchs(argument):
        return argument
    if kind is TensorWrapper:
        return _plain_wrapper(argument, pointer)
    if kind is constexpr:
        return constexpr(plain(argument.value, pointer))
    if isinstance(argument, np.generic):  # before float, the class of some numbers of numpy
        return argument if kind in _NUMPY else np.generic.item(argument)
    if isinstance(argument, int):
        return int.__pos__(argument)
    if isinstance(argument, float):
        return float.__pos__(argument)
    if isinstance(argument, str):
        return str.__str__(argument)
    if isinstance(argument, tuple):
        return _plain_tuple(argument, pointer)
    if isinstance(argument, list):
        return [plain(part, pointer) for part in list.__iter__(argument)]
    if isinstance(argument, dict):
        return {key: plain(part, pointer) for key, part in dict.items(argument)}
    for descriptor in _descriptor_classes():
        if isinstance(argument, descriptor):
            return _plain_descriptor(argument, descriptor, pointer)
    try:
        address = argument.data_ptr
    except AttributeError:
        return None
    return pointer(argument, int.__pos__(address()))


def with_fixed_addresses(argument: Any) -> Any:
    """Returns a plain argument with a Pointer in place of each tensor, which must live longer."""
    if isinstance(argument, torch.Tensor):
        with torch._C.DisableTorchFunction():
            return Pointer(_DTYPE_OF.__get__(argument), _ADDRESS_OF(argument))
    if type(argument) is TensorWrapper:
        return Pointer(argument.dtype, with_fixed_addresses(argument.base).data_ptr())
    if is_descriptor(argument):
        made = copy.copy(argument)
        base = with_fixed_addresses(argument.base)
        made.base = Pointer(None, base) if isinstance(base, int) else base
        return made
    if isinstance(argument, tuple):
        parts = map(with_fixed_addresses, argument)
        return type(argument)(*parts) if hasattr(argument, "_fields") else tuple(parts)
    if isinstance(argument, list):
        return list(map(with_fixed_addresses, argument))
    return argument


def is_descriptor(argument: Any) -> bool:
    """Returns True for a descriptor that plain() has returned."""
    return type(argument) in _descriptor_classes()


def _plain_wrapper(argument: TensorWrapper, pointer: Callable[[Any, Any], Any]) -> Any:
    """Returns a tensor with another type of its elements, as triton.reinterpret() makes them."""
    base, dtype = plain(argument.base, pointer), plain(argument.dtype, pointer)
    if isinstance(base, torch.Tensor):
        return TensorWrapper(base, dtype)
    return Pointer(dtype, base.data_ptr()) if isinstance(base, Pointer) else base


def _plain_tuple(argument: tuple[Any, ...], pointer: Callable[[Any, Any], Any]) -> tuple[Any, ...]:
    parts = tuple(plain(part, pointer) for part in tuple.__iter__(argument))
    names = getattr(type(argument), "_fields", None)
    if names is None:
        return parts
    # A kernel may refer to the parts by these names.
    named = namedtuple("Arguments", [str(name) for name in names], rename=True)  # type: ignore[misc]
    return named(*parts)  # type: ignore[no-any-return]


def _descriptor_classes() -> Iterator[Any]:
    for module, name in _DESCRIPTORS:
        if module in sys.modules and (found := getattr(sys.modules[module], name, None)):
            yield found


def _plain_descriptor(argument: Any, kind: Any, pointer: Callable[[Any, Any], Any]) -> Any:
    made = object.__new__(kind)
    # A subclass could define `__dict__` by code of its own.
    for name, value in vars(kind)["__dict__"].__get__(argument).items():
        is_read = name in ("base", "shape", "strides", "block_shape", "padding")
        made.__dict__[name] = plain(value, pointer) if is_read else value
    return made

"""Calls a submission that is a class: makes an object of a torch.nn.Module, puts given parameters and
buffers into it, and calls its forward. The adapter of an operator that was imported from a
benchmark of such classes uses this module, and so does the operator's reference.

    state = {"ln.weight": weight, "ln.bias": bias}
    outputs = call_class(ModelNew, (64,), state, (x,))  # a tensor, or a tuple of tensors

The object's own initial values are not needed, so no random ones are drawn: where a constructor draws
a tensor, it gets zeros. If the class does not fit, an InterfaceMismatch says how."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from harness.entry.errors import InterfaceMismatch

SHOWN = 6  # names of tensors in a message
# Buffers that only count calls. A kernel does not compute them, so they are no arguments.
COUNTERS = ("num_batches_tracked",)
_CONSTANT = ("constant_", "zeros_", "ones_", "eye_", "dirac_")
_INITIALISERS = tuple(
    name
    for name in dir(torch.nn.init)
    if name.endswith("_") and not name.startswith("_") and name not in _CONSTANT
)
_DRAWS = (torch.rand, torch.randn)
_DRAWS_LIKE = (torch.rand_like, torch.randn_like)
_DRAWS_INTO = (
    torch.Tensor.uniform_,
    torch.Tensor.normal_,
    torch.Tensor.exponential_,
    torch.Tensor.cauchy_,
    torch.Tensor.log_normal_,
)


class _NoDraws(TorchFunctionMode):
    """Gives zeros to a constructor that draws random numbers. So a tensor that is neither a
    parameter nor a buffer is the same in every object."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func in _DRAWS_INTO:
            return args[0]
        if func in _DRAWS:
            kwargs.pop("generator", None)
            return torch.zeros(*args, **kwargs)
        if func in _DRAWS_LIKE:
            return torch.zeros_like(*args, **kwargs)
        return func(*args, **kwargs)


class _GivenDraws(TorchFunctionMode):
    """Hands out given tensors in place of the random tensors that forward draws."""

    def __init__(self, tensors: Sequence[torch.Tensor]) -> None:
        super().__init__()
        self._tensors = list(tensors)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func not in _DRAWS:
            return func(*args, **kwargs)
        size = args[0] if args and not isinstance(args[0], int) else args or kwargs["size"]
        for position, tensor in enumerate(self._tensors):
            if tuple(tensor.shape) == tuple(size):
                return self._tensors.pop(position)
        raise InterfaceMismatch(
            f"forward draws a tensor of shape {list(size)} with torch.{func.__name__}, which that of "
            "Model does not draw, or draws less often"
        )


@contextlib.contextmanager
def undrawn() -> Iterator[None]:
    """While the context is active, nothing draws the initial values of a module."""
    originals = {name: getattr(torch.nn.init, name) for name in _INITIALISERS}
    try:
        for name in originals:
            setattr(torch.nn.init, name, _unchanged)
        with _NoDraws():
            yield
    finally:
        for name, function in originals.items():
            setattr(torch.nn.init, name, function)


def _unchanged(tensor: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
    return tensor


def state_of(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Returns the parameters and the persistent buffers by name. A tensor with several names occurs
    once. Counters are left out."""
    persistent = set(module.state_dict(keep_vars=True))
    named = [*module.named_parameters(), *module.named_buffers()]
    return {
        name: tensor
        for name, tensor in named
        if name in persistent and name.rpartition(".")[2] not in COUNTERS
    }


def call_class(
    kind: Any,
    init: Sequence[Any],
    state: Mapping[str, torch.Tensor],
    inputs: Sequence[Any],
    draws: Sequence[torch.Tensor] = (),
    dtype: torch.dtype | None = None,
) -> torch.Tensor | tuple[torch.Tensor, ...]:
    """Makes an object of the class, puts the state into it, and calls it. Returns the tensors in
    what it returned. The object's buffers are the given tensors, so what forward writes to a buffer
    is in the given tensor afterwards. The tensors of `draws` are handed out in place of random
    tensors that forward draws. `dtype` replaces the floating-point dtypes of the object."""
    module = made_module(kind, init, state, dtype)
    _check_call(module.forward, inputs, f"{_name_of(kind)}.forward")
    with torch.no_grad(), _GivenDraws(draws) if draws else contextlib.nullcontext():
        returned = module(*inputs)
    tensors = tuple(leaf for leaf in tree_leaves(returned) if isinstance(leaf, torch.Tensor))
    return tensors[0] if len(tensors) == 1 else tensors


def made_module(
    kind: Any,
    init: Sequence[Any],
    state: Mapping[str, torch.Tensor],
    dtype: torch.dtype | None = None,
) -> torch.nn.Module:
    """Makes an object of the class, and puts the state into it (see call_class())."""
    name = _name_of(kind)
    if not (isinstance(kind, type) and issubclass(kind, torch.nn.Module)):
        raise InterfaceMismatch(f"`{name}` is not a class derived from torch.nn.Module")
    _check_call(kind, init, f"{name}.__init__")
    with torch.no_grad():
        with undrawn():
            module = kind(*init)
        module = module if dtype is None else module.to(dtype)
        put_state(module, state, name)
    return module


def _name_of(kind: Any) -> str:
    return str(getattr(kind, "__name__", kind))


def put_state(
    module: torch.nn.Module, state: Mapping[str, torch.Tensor], name: str = "the module"
) -> None:
    """Replaces all parameters and persistent buffers by the given tensors. Raises InterfaceMismatch
    unless the names, the shapes and the dtypes are equal."""
    own = state_of(module)
    _check_names(own, state, name)
    for key, tensor in own.items():
        given = state[key]
        if (tensor.shape, tensor.dtype) != (given.shape, given.dtype):
            raise InterfaceMismatch(
                f"`{key}` of {name} is {_form(tensor)}; that of Model is {_form(given)}"
            )
    made: dict[int, torch.Tensor] = {}
    for key, tensor in own.items():
        given = state[key]
        made[id(tensor)] = (
            torch.nn.Parameter(given, requires_grad=False)
            if isinstance(tensor, torch.nn.Parameter)
            else given
        )
    for part in module.modules():
        for tensors in (part._parameters, part._buffers):
            for key, value in tensors.items():
                if value is not None and id(value) in made:
                    tensors[key] = made[id(value)]  # type: ignore[assignment]
        if isinstance(part, torch.nn.RNNBase):
            # torch keeps a second list of these parameters.
            part._flat_weights = [getattr(part, key, None) for key in part._flat_weights_names]


def _check_names(
    own: Mapping[str, torch.Tensor], given: Mapping[str, torch.Tensor], name: str
) -> None:
    missing = [f"{key} {_form(given[key])}" for key in given if key not in own]
    other = [f"{key} {_form(own[key])}" for key in own if key not in given]
    if not missing and not other:
        return
    lacks = f"it lacks {_listed(missing)}" if missing else ""
    has = f"it has {_listed(other)}, which Model has not" if other else ""
    raise InterfaceMismatch(
        f"the state dict of {name} must equal that of Model by name and shape: "
        + "; ".join(part for part in (lacks, has) if part)
    )


def _check_call(function: Callable[..., Any], arguments: Sequence[Any], name: str) -> None:
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError as error:
        raise InterfaceMismatch(
            f"{name} does not accept the {len(arguments)} arguments that Model accepts: {error}"
        ) from None
    except ValueError:
        return  # Python cannot tell the signature, so the call itself decides


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _form(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)}"

"""Watches what host code does with device memory if there is no device: poisons allocations, and
refuses torch operations that would replace the kernels.

    with Poison():  # every fresh allocation holds NaN, as under the launcher
        ...
    with HostWatch(tensors) as watch:  # torch arithmetic on, and reads of, device data raise
        watch.touched(tensor)  # a kernel may have written it

A launch plan holds allocations, fills, copies and the submission's own kernels. On a machine with a
GPU the recorder (dispatch.py) refuses everything else. This module refuses the same, with the same
error. It is a fence and not a wall, because the process is the submission's own. The wall is the
launch plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

from harness.entry.errors import NotRecordable
from harness.entry.operations import (
    ALIASES,
    ALLOCATIONS,
    DRAWN_INTO,
    DRAWN_LIKE,
    LIFTS,
    METADATA,
    MOVES,
    UNIFORM,
    replaceable,
    why_not,
)

POISON = 0xFF  # as a float NaN, as an integer -1
_random = torch.Generator()
# Added to each tensor's address that host code reads: the alignment stays, and no memory is there.
_ELSEWHERE = 1 << 46
_FRESH = ALLOCATIONS | DRAWN_LIKE | UNIFORM.keys()
_PASSED_ON = METADATA | ALIASES | LIFTS | MOVES | DRAWN_INTO
_READS = {
    torch.Tensor.tolist: ".tolist()",
    torch.Tensor.numpy: ".numpy()",
    torch.Tensor.cpu: ".cpu()",
    torch.Tensor.__array__: "numpy's conversion",
    torch.Tensor.__dlpack__: ".__dlpack__()",
    torch.Tensor.storage: ".storage()",
    torch.Tensor.untyped_storage: ".untyped_storage()",
    torch.Tensor.__reduce_ex__: "pickling it",
}


def tensors_in(value: Any) -> list[torch.Tensor]:
    """Returns the tensors of arguments. A descriptor counts as the tensor that it refers to."""
    found = []
    for leaf in tree_flatten(value)[0]:
        base = leaf if isinstance(leaf, torch.Tensor) else getattr(leaf, "base", None)
        if isinstance(base, torch.Tensor):
            found.append(base)
    return found


def poison(tensor: torch.Tensor) -> None:
    """Sets every byte, whatever the dtype."""
    _raw(tensor).fill_(POISON)


def randomise(tensor: torch.Tensor) -> None:
    """Fills the tensor with random bytes, which no computation matches by chance. It does not use
    the submission's random number generators. Booleans stay booleans."""
    raw = _raw(tensor)
    raw.copy_(
        torch.randint(
            0,
            2 if tensor.dtype is torch.bool else 256,
            raw.shape,
            dtype=torch.uint8,
            generator=_random,
        )
    )


def _storage(tensor: torch.Tensor) -> torch.UntypedStorage:
    with torch._C.DisableTorchFunction():
        return torch.Tensor.untyped_storage(tensor)


def _raw(tensor: torch.Tensor) -> torch.Tensor:
    storage = _storage(tensor)
    return torch.empty(0, dtype=torch.uint8).set_(storage, 0, (storage.nbytes(),), (1,))  # type: ignore[call-overload, no-any-return]


class Poison(TorchDispatchMode):
    """Poisons allocations, so that uninitialised memory is never right by chance."""

    def __init__(self, fill: Callable[[torch.Tensor], None] = poison) -> None:
        super().__init__()
        self._fill = fill

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func._schema.name in ALLOCATIONS and result.device.type == "cpu":
            self._fill(result)
        return result


class HostWatch(Poison):
    """Refuses operations that a launch plan cannot hold. `device_data` holds the arguments whose
    values host code may not use, and `known` those whose values it may use anywhere."""

    def __init__(
        self, device_data: Iterable[torch.Tensor], known: Iterable[torch.Tensor] = ()
    ) -> None:
        super().__init__(randomise)
        _random.seed()
        # Keeps storages alive, so that no address is reused.
        self._storages: dict[int, torch.UntypedStorage] = {}
        self._known = {_storage(tensor).data_ptr() for tensor in known}
        self._reads = _Reads(self)
        for tensor in device_data:
            self.touched(tensor)

    def __enter__(self) -> HostWatch:
        self._reads.__enter__()
        return super().__enter__()  # type: ignore[no-any-return]

    def __exit__(self, *exception: Any) -> None:
        super().__exit__(*exception)
        self._reads.__exit__(*exception)

    def touched(self, tensor: torch.Tensor) -> None:
        storage = _storage(tensor)
        if storage.data_ptr() not in self._known:
            self._storages[storage.data_ptr()] = storage

    def holds(self, tensor: torch.Tensor) -> bool:
        """Returns True if the tensor holds values of the device."""
        return (
            tensor.layout is torch.strided
            and _storage(tensor).data_ptr() in self._storages
            and tensor.numel() > 0
        )

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func._schema.name
        if not any(self.holds(tensor) for tensor in tensors_in((args, kwargs))):
            return super().__torch_dispatch__(func, types, args, kwargs)
        if not (func.is_view or name in _FRESH or name in _PASSED_ON):
            raise NotRecordable(why_not(func), subject=replaceable(func))
        result = super().__torch_dispatch__(func, types, args, kwargs)
        if name not in _FRESH:
            for tensor in tensors_in(result):
                self.touched(tensor)
        return result


class _Reads(TorchFunctionMode):
    """Catches conversions that never reach the dispatcher."""

    def __init__(self, watch: HostWatch) -> None:
        super().__init__()
        self._watch = watch

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.Tensor.data_ptr and self._watch.holds(args[0]):
            return func(*args) + _ELSEWHERE
        if func in _READS and self._watch.holds(args[0]):
            raise NotRecordable(
                f"{_READS[func]} reads the values of a device tensor on the host; a launch plan cannot depend on them"
            )
        return func(*args, **(kwargs or {}))

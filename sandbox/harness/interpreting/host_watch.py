"""Watches what host code does with device memory on a machine without a GPU. HostWatch fills new
allocations with a poison value, and refuses torch operations that would do the work of kernels.

    with HostWatch(live, refusals, log) as watch:
        run_user_code()  # arithmetic by torch on device data raises NotRecordable

A launch plan consists of allocations, fills, copies and the submission's own kernels. On a machine
with a GPU, the recorder (dispatch.py) refuses every other operation. Without a GPU, this module
refuses the same operations with the same error, both in the ordinary run and in the ablated run,
whose outputs lack the results of the kernels. A malicious submission can get around this module,
because it runs in the same process. Only a launch plan gives full protection."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_flatten, tree_map

from harness.entry.errors import NotRecordable
from harness.entry.moves import moves
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
from harness.entry.refusals import Refusals
from harness.entry.torch_kernels import TorchKernels
from harness.interpreting.layout_log import LayoutLog, View
from harness.interpreting.live_memory import COPIES, WITHOUT, Block, LiveMemory
from harness.wire.poison import fill_poison

_random = torch.Generator()
_FRESH = ALLOCATIONS | DRAWN_LIKE | UNIFORM.keys()
_WRITES = MOVES | DRAWN_INTO
_PASSED_ON = METADATA | ALIASES | LIFTS | _WRITES
# Most of the others call these operations.
_BASIC = frozenset({"aten::copy_", "aten::fill_", "aten::zero_", "aten::empty", "aten::set_"})
# What torch has registered before a submission is imported: a zygote imports this module.
_KERNELS, _BASIC_KERNELS = TorchKernels(_FRESH | _PASSED_ON), TorchKernels(_BASIC)
# Functions that read the values of a tensor without torch's dispatcher. The value of each entry
# names the function in an error message.
_READS = {
    torch.Tensor.tolist: ".tolist()",
    torch.Tensor.numpy: ".numpy()",
    torch.Tensor.cpu: ".cpu()",
    torch.Tensor.__array__: "numpy's conversion",
    torch.Tensor.__dlpack__: ".__dlpack__()",
    torch.Tensor.__cuda_array_interface__.__get__: ".__cuda_array_interface__",  # type: ignore[attr-defined]
    torch.Tensor.storage: ".storage()",
    torch.Tensor.untyped_storage: ".untyped_storage()",
    torch.Tensor.__reduce_ex__: "pickling it",
    torch.Tensor.apply_: ".apply_()",
    torch.Tensor.map_: ".map_()",
    torch.Tensor.map2_: ".map2_()",  # type: ignore[attr-defined]
}
# Functions of a module that read a tensor's values, as (module, name). No torch mode sees a call of
# such a function, so HostWatch replaces each function.
_EXPORTS = ((torch._C, "_to_dlpack"), (torch._C, "_to_dlpack_versioned"))


def tensors_in(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_flatten(value)[0] if isinstance(leaf, torch.Tensor)]


def poison(storage: torch.UntypedStorage) -> None:
    """Fills the storage with the poison."""
    fill_poison(_bytes(storage))


def randomise(storage: torch.UntypedStorage, dtype: torch.dtype) -> None:
    """Fills a storage with random bytes, which no computation yields by chance. The submission's
    random number generators are not used. If the dtype is bool, each byte is 0 or 1."""
    most = 2 if dtype is torch.bool else 256
    raw = _bytes(storage)
    raw.copy_(torch.randint(0, most, raw.shape, dtype=torch.uint8, generator=_random))


def _storage(tensor: torch.Tensor) -> torch.UntypedStorage:
    with torch._C.DisableTorchFunction():
        return torch.Tensor.untyped_storage(tensor)


def _bytes(storage: torch.UntypedStorage) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8).set_(storage, 0, (storage.nbytes(),), (1,))  # type: ignore[call-overload, no-any-return]


class HostWatch(TorchDispatchMode):
    """Refuses operations that a launch plan cannot contain (see the module's docstring). `placing`
    returns True during a call that names a CUDA device."""

    def __init__(
        self,
        live: LiveMemory,
        refusals: Refusals,
        log: LayoutLog[Block],
        placing: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__()
        _random.seed()
        self._live, self._refusals, self._log = live, refusals, log
        self._placing = placing
        self._reads = _Reads(self)
        self._guard_exports()

    def __enter__(self) -> HostWatch:
        self._reads.__enter__()
        return super().__enter__()  # type: ignore[no-any-return]

    def __exit__(self, *exception: Any) -> None:
        super().__exit__(*exception)
        self._reads.__exit__(*exception)

    def argument(self, tensor: torch.Tensor, known: str = "") -> None:
        """Registers an argument of the entry. `known` is the argument's name if host code may read
        its values. Otherwise host code keeps only the tensor's layout, and from now on only kernels
        can read its values."""
        self._demand_own(_BASIC_KERNELS.all_unchanged(), "torch's copy")
        block = self._live.block(tensor)
        if block is not None:
            block.device, block.placed, block.known = not known, True, known
            if not known and tensor.numel():
                self._live.copies_of(block)
                _bytes(_storage(tensor)).zero_()

    def holds(self, tensor: Any) -> bool:
        """Returns True if the tensor's values are known only to the device."""
        if not isinstance(tensor, torch.Tensor):
            return False
        block = self._live.block(tensor)
        return block is not None and block.device and tensor.numel() > 0

    def view(self, tensor: torch.Tensor) -> View[Block] | None:
        """Returns the tensor's layout for the layout log, or None if the tensor has no storage."""
        block, size = self._live.block(tensor), tensor.element_size()
        if block is None:
            return None
        steps = tuple(step * size for step in tensor.stride())
        return View(block, tensor.storage_offset() * size, tuple(tensor.shape), steps, size)

    def refuse_read(self, how: str) -> NotRecordable:
        return self._refusals.refuse(
            NotRecordable(
                f"{how} reads the values of a device tensor on the host; a launch plan cannot depend on them"
            )
        )

    def _demand_own(self, own: bool, name: str) -> None:
        """Refuses an operation in whose place code of the submission would run. This code would get
        the hidden memory."""
        if not own:
            raise self._refusals.refuse(
                NotRecordable(
                    f"{name} runs code that the submission has registered (torch.library); a launch plan "
                    "holds only torch's own copies and fills"
                )
            )

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, kwargs = func._schema.name, kwargs or {}
        tensors = tensors_in((args, kwargs))
        passed_on = name in _PASSED_ON and "out" not in kwargs
        held = any(map(self.holds, tensors))
        if held and not (func.is_view or name in _FRESH or passed_on):
            raise self._refusals.refuse(NotRecordable(why_not(func), subject=replaceable(func)))
        if (held and passed_on) or name in _FRESH:
            own = _KERNELS.unchanged(func) and _BASIC_KERNELS.all_unchanged()
            self._demand_own(own, name)
        result = func(*args, **kwargs)
        if name in _FRESH:
            self._made(name, result, tensors)
        elif name in _WRITES and passed_on:
            self._wrote(func, args, kwargs, result)
        return result

    def _made(self, name: str, result: torch.Tensor, like: list[torch.Tensor]) -> None:
        """Registers a new tensor. The values of a new, uninitialised device tensor count as known
        only to the device, so host code may not read them."""
        block = self._live.block(result)
        if block is None or result.device.type != "cpu":
            return
        block.placed = self._placing() or any(
            known is not None and known.placed for known in map(self._live.block, like)
        )
        if name in ALLOCATIONS:
            poison(_storage(result))
            block.device = block.placed
            if block.device and result.numel():
                randomise(self._live.copies_of(block)[WITHOUT], result.dtype)

    def _wrote(self, func: Any, args: Any, kwargs: Any, result: torch.Tensor) -> None:
        """Registers what an operation wrote: a new tensor, or its first argument."""
        name, block = func._schema.name, self._live.block(result)
        if block is None or not result.numel():  # nothing was written
            return
        sources = args[0] if name in ("aten::cat", "aten::stack") else args[:2]
        if name in DRAWN_INTO or func._schema.is_mutable:
            sources = args[1:2]
        if any(map(self.holds, sources)):
            block.device = True
        elif result.is_contiguous() and self._is_whole(result):
            block.device, block.copies = False, []
            return
        if not block.device:
            return
        for target, source in moves(name, args, kwargs, result):
            to, at = self.view(target), self.view(source)
            if self.holds(source) and to is not None and at is not None:
                self._log.move(to, at)
        self._repeat(func, args, kwargs, result, block)

    def _is_whole(self, tensor: torch.Tensor) -> bool:
        return tensor.numel() * tensor.element_size() == _storage(tensor).nbytes()

    def _repeat(
        self, func: Any, args: Any, kwargs: Any, result: torch.Tensor, block: Block
    ) -> None:
        """Repeats an operation of host code in both copies of the result's block."""
        self._live.copies_of(block)
        for copy in COPIES:
            with _disable_current_modes():
                # The operation has drawn random numbers. Both copies of the block get these
                # numbers, because a repetition would draw other numbers.
                if func._schema.name in DRAWN_INTO:
                    self._live.view(result, copy).copy_(result)
                    continue
                given, named = tree_map(partial(self._in_copy, copy), (args, kwargs))
                block.copies[copy] = _storage(func(*given, **named))

    def _in_copy(self, copy: int, value: Any) -> Any:
        if not self.holds(value):
            return value
        block = self._live.block(value)
        assert block is not None
        self._live.copies_of(block)
        return self._live.view(value, copy)

    def _guard_exports(self) -> None:
        for module, name in _EXPORTS:
            export = getattr(module, name)

            @wraps(export)
            def guarded(tensor: Any, *rest: Any, export: Any = export, **named: Any) -> Any:
                if self._live.watched and self.holds(tensor):
                    raise self.refuse_read(export.__name__)
                return export(tensor, *rest, **named)

            setattr(module, name, guarded)
            for place in (torch, torch.utils.dlpack):
                if getattr(place, name.lstrip("_"), None) is export:
                    setattr(place, name.lstrip("_"), guarded)


class _Reads(TorchFunctionMode):
    """Refuses the functions of _READS for a tensor whose values only the device knows. torch's
    dispatcher does not see calls of these functions."""

    def __init__(self, watch: HostWatch) -> None:
        super().__init__()
        self._watch = watch

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _READS and self._watch.holds(args[0]):
            raise self._watch.refuse_read(_READS[func])
        return func(*args, **(kwargs or {}))

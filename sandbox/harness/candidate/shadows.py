"""Computes what a submission's outputs would be without the results of its kernels, while the
submission runs as usual.

    shadows = Shadows()
    patch_launches(shadows.launch)  # around each launch: `with shadows.launch(arguments) as given`
    with shadows.watching():
        outputs = entry(*arguments)
    without = [shadows.view(output) for output in outputs]

A storage whose contents may depend on a kernel has a shadow, which is a second storage with the
contents that it would have if no kernel had run. A launch makes shadows of its arguments, and
changes no shadow. If an operation of torch has an operand with a shadow, then it is repeated on the
shadows, and its results get shadows. All other storages have no shadow, because no kernel had an
effect on them. So nothing that host code can read or measure is different from a run without this
module, and a submission whose control flow depends on values needs no special case.

Values that only decide about shapes, indices or control flow are those of the kernels in both
computations. An index is moved to another position, so that the result still depends on it.

A library, another thread or numpy may also write to memory, unseen by this mode of torch. Such a
write counts as not made by a kernel. For this, each storage with a shadow has a second copy, which is
its contents after the last launch or operation that wrote to it. Before the next one, and at the end,
what differs from this copy goes to the shadow too, and all elements between. A kernel works on these
second copies, and its results are copied back (private_memory.py). So what is written to a storage
while a kernel runs is not the kernel's either.

An operation that a submission has defined (torch.library) is not repeated. It runs once, and what
torch does inside is seen as outside.

Host code runs in the same process and could find or avoid this object. The judge therefore also
checks that the ordinary outputs of this run are right. Several threads may launch kernels."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map

from harness.candidate.addresses import KnownMemory, Place, numbers_in, words_of
from harness.candidate.operands import (
    call,
    is_composite,
    is_of_torch,
    tensors_in,
    tensors_of,
    written,
    written_names,
)
from harness.candidate.private_memory import PrivateMemory
from harness.candidate.storages import (
    bytes_of,
    copy_of,
    enlarged,
    is_captured,
    is_mapped_anew,
    laid_over,
    settle,
    storage_of,
    take_over,
)
from harness.candidate.substitutes import CARES, CHECK_SHARES, substitute
from harness.wire.poison import fill_poison

# These operations only assert something about values. On a GPU, a failure would end the CUDA context.
_ASSERTIONS = frozenset({"aten::_assert_async", "aten::_functional_assert_async"})
# These operations return memory that nothing was stored to.
_UNSTORED = frozenset(
    {"aten::empty", "aten::empty_like", "aten::empty_strided", "aten::empty_permuted"}
    | {"aten::new_empty", "aten::new_empty_strided"}
)
# The names of parameters that make an operation random, unless they are 0.
_DROPOUT = frozenset({"dropout_p", "dropout"})
# These operations change the memory of a tensor, and compute nothing.
_RESIZES = frozenset({"aten::set_", "aten::resize_", "aten::resize_as_"})


@dataclass
class _Kept:
    storage: StorageWeakRef
    shadow: torch.UntypedStorage
    seen: torch.UntypedStorage  # the storage's contents after the last write that is accounted for
    item_bytes: int  # the size of the largest elements that a tensor in this storage had


class Shadows:
    """The shadows of the storages of this process (see the module's docstring)."""

    def __init__(self) -> None:
        # The keys are identities of storages. None is reused while a weak reference exists.
        self._shadows: dict[int, _Kept] = {}
        self.memory = KnownMemory()
        # Launches of several threads happen one after the other: each one copies its results back to
        # whole storages.
        self.alone = threading.RLock()
        # Storages that were made while a CUDA graph was captured. Each replay makes them again.
        self._captured: dict[int, StorageWeakRef] = {}

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        with _Operations(self), _Pointers(self):
            yield

    @contextlib.contextmanager
    def launch(
        self,
        arguments: Any,
        look: Callable[[list[torch.Tensor], bool], None] = lambda found, unknown: None,
    ) -> Iterator[Any]:
        """The context of a launch, which yields the arguments that the kernel gets. Makes shadows of
        all storages that a kernel with these arguments may write. A kernel can also write to memory
        whose address it gets as an integer or in a table, and to a tensor whose address the host code
        has read. Calls `look` when the copies on which the kernel works (`private`) are complete.
        `look` gets the bytes of the storages that are no arguments, and whether the kernel also gets
        an address of other memory."""
        with self.alone:
            with torch._C.DisableTorchFunction(), _disable_current_modes():
                self._forget_freed()
                tensors = list(tensors_of(arguments))
                self.memory.note(*tensors)
                reached, copies, unknown = self._reached(
                    [*map(_place, tensors), *self.memory.exposed()], numbers_in(arguments)
                )
                given_at = {one._cdata for one in map(storage_of, tensors) if one is not None}
                look([bytes_of(one) for one in reached if one._cdata not in given_at], unknown)
                private = PrivateMemory(
                    [(*pair, self.memory.is_table(pair[0])) for pair in copies.values()]
                )
                private.hide()
                given = private.arguments(arguments)
            try:
                yield given
            finally:
                with torch._C.DisableTorchFunction(), _disable_current_modes():
                    private.show()
                    for storage, seen in copies.values():
                        size = min(storage.nbytes(), seen.nbytes())
                        bytes_of(storage)[:size] = bytes_of(seen)[:size]

    def _reached(
        self, places: list[Place], numbers: Any
    ) -> tuple[
        list[torch.UntypedStorage],
        dict[int, tuple[torch.UntypedStorage, torch.UntypedStorage]],
        bool,
    ]:
        """Makes shadows of these places and of those at the addresses in `numbers` and in tables.
        Returns their storages, those that have a shadow with the copy on which a kernel works, and
        whether an address refers to other memory."""
        reached: dict[int, torch.UntypedStorage] = {}
        copies: dict[int, tuple[torch.UntypedStorage, torch.UntypedStorage]] = {}
        unknown = False
        while True:
            self._make(*places)
            # The addresses in the copies count: something may write to a table at this moment.
            words = [numbers]
            for storage, _ in places:
                if storage is None or storage._cdata in reached:
                    continue
                reached[storage._cdata] = storage
                kept = self._shadows.get(storage._cdata)
                if kept is not None:
                    copies[storage._cdata] = storage, kept.seen
                    if self.memory.is_table(storage):
                        words.append(words_of(kept.seen))
            found, outside = self.memory.at(np.concatenate(words), reached.values())
            unknown = unknown or outside
            places = [one for one in found if one[0] is not None and one[0]._cdata not in reached]
            numbers = numbers[:0]
            if not places:
                return list(reached.values()), copies, unknown

    def exposed(self, tensor: torch.Tensor) -> None:
        """Notes that host code has read the tensor's address."""
        storage = storage_of(tensor)
        if storage is None or any(
            kept.seen._cdata == storage._cdata for kept in list(self._shadows.values())
        ):
            return  # a launcher reads the address of the memory on which a kernel works
        self.memory.expose(tensor)

    def private(self, tensor: torch.Tensor) -> torch.UntypedStorage | None:
        """Returns the memory on which kernels work in place of the tensor's."""
        storage = storage_of(tensor)
        kept = None if storage is None else self._shadows.get(storage._cdata)
        return None if kept is None else kept.seen

    def has(self, tensor: torch.Tensor) -> bool:
        storage = storage_of(tensor)
        return storage is not None and storage._cdata in self._shadows

    def make(self, *tensors: torch.Tensor) -> None:
        """Makes a shadow with the present contents of each tensor's storage, unless it has one. If
        it has one, takes over what was written to the storage unseen."""
        self._make(*map(_place, tensors))

    def note(self, *tensors: torch.Tensor) -> None:
        """Says that the present contents of the tensors' storages are accounted for."""
        self._note(*map(_place, tensors))

    def _make(self, *places: Place) -> None:
        settle(*(storage for storage, _ in places))
        for storage, item_bytes in places:
            if storage is None or not storage.nbytes():
                continue
            kept = self._shadows.get(storage._cdata)
            if kept is None:
                if is_captured(storage) and storage._cdata not in self._captured:
                    # Each replay would copy the results of the replay before it into the shadow. So
                    # a kernel must run on the memory once before its launch is captured.
                    continue
                kept = _Kept(StorageWeakRef(storage), storage.clone(), copy_of(storage), item_bytes)
                self._shadows[storage._cdata] = kept
                continue
            kept.item_bytes = max(kept.item_bytes, item_bytes)
            if kept.shadow.nbytes() < storage.nbytes():  # the storage was resized
                kept.shadow = enlarged(kept.shadow, storage)
                kept.seen = enlarged(kept.seen, storage)
            take_over(
                bytes_of(storage), bytes_of(kept.seen), bytes_of(kept.shadow), kept.item_bytes
            )

    def _note(self, *places: Place) -> None:
        settle(*(storage for storage, _ in places))
        for storage, _ in places:
            kept = None if storage is None else self._shadows.get(storage._cdata)
            if storage is not None and kept is not None:
                size = min(storage.nbytes(), kept.seen.nbytes())
                bytes_of(kept.seen)[:size] = bytes_of(storage)[:size]

    def made(self, tensor: torch.Tensor) -> None:
        """Notes that an operation of torch has made the tensor's storage."""
        storage = storage_of(tensor)
        if storage is not None and is_captured(storage):
            self._captured[storage._cdata] = StorageWeakRef(storage)

    def put(self, tensor: torch.Tensor, shadow: torch.Tensor) -> None:
        """Makes the storage of `shadow` the shadow of the tensor's storage. The layouts must be
        equal."""
        self._forget_freed()
        storage, other = storage_of(tensor), storage_of(shadow)
        if storage is not None and other is not None:
            kept = _Kept(StorageWeakRef(storage), other, copy_of(storage), tensor.itemsize)
            self._shadows[storage._cdata] = kept

    def view(self, tensor: torch.Tensor) -> torch.Tensor:
        """Returns a tensor with the layout of `tensor` that lies in the shadow. Returns `tensor`
        itself if it has no shadow."""
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            storage = storage_of(tensor)
            if storage is None or storage._cdata not in self._shadows:
                return tensor
            self._make((storage, tensor.itemsize))
            return laid_over(tensor, self._shadows[storage._cdata].shadow)

    def contents(self, tensor: torch.Tensor) -> torch.UntypedStorage:
        """Returns what view() saw in the tensor's storage. Nothing but this module can write to
        it."""
        private = self.private(tensor)
        return tensor.untyped_storage().clone() if private is None else private

    def _forget_freed(self) -> None:
        # Another thread may note something meanwhile.
        for at, kept in list(self._shadows.items()):
            if kept.storage.expired():
                self._shadows.pop(at, None)
        for at, one in list(self._captured.items()):
            if one.expired():
                self._captured.pop(at, None)
        self.memory.forget_freed()


class _Operations(TorchDispatchMode):
    """Repeats torch's operations on the shadows."""

    def __init__(self, shadows: Shadows) -> None:
        super().__init__()
        self._shadows = shadows

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if is_composite(func):  # torch.inference_mode() does not take it apart
            return call(self, func, args, kwargs)
        if func._schema.name in _UNSTORED:
            # torch may give out memory that still contains the results of an earlier launch.
            result = func(*args, **kwargs)
            storage = storage_of(result)
            self._shadows.memory.note(result)
            if storage is not None and storage.nbytes() and not is_mapped_anew(storage):
                fill_poison(bytes_of(storage))
                self._shadows.made(result)
            return result
        operands = tensors_in((args, kwargs))
        self._shadows.memory.note(*operands)
        if (
            func.is_view
            or not is_of_torch(func)
            or func._schema.name in _RESIZES | _ASSERTIONS
            or not any(map(self._shadows.has, operands))
        ):
            result = call(self, func, args, kwargs)
            self._shadows.memory.note(*tensors_in(result))
            if not func.is_view:
                self._note_made(result, operands)
            return result
        identities = {one._cdata for one in map(storage_of, operands) if one is not None}
        targets = written(func, args, kwargs)
        self._shadows.make(*targets, *filter(self._shadows.has, operands))
        repeated = None if _is_random(func, args, kwargs) else self._repeat(func, args, kwargs)
        result = func(*args, **kwargs)
        self._shadows.memory.note(*tensors_in(result))
        if repeated is None:  # the values are the same in both computations
            for tensor in targets:
                self._shadows.view(tensor).copy_(tensor)
            self._shadows.note(*targets)
            return result
        self._shadows.note(*targets)
        for one, other in zip(tree_leaves(result), tree_leaves(repeated), strict=False):
            storage = storage_of(one) if isinstance(one, torch.Tensor) else None
            if storage is None or storage._cdata in identities:
                continue
            if _form(one) == _form(other):  # a shape may depend on values; those are the kernels'
                self._shadows.put(one, other)
        return result

    def _note_made(self, result: Any, operands: list[torch.Tensor]) -> None:
        before = {storage._cdata for one in operands if (storage := storage_of(one)) is not None}
        for one in tree_leaves(result):
            storage = storage_of(one) if isinstance(one, torch.Tensor) else None
            if storage is not None and storage._cdata not in before:
                self._shadows.made(one)

    def _repeat(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Returns the result of the operation on shadows, or None if the operation refuses their
        values, and also others."""
        names = [argument.name for argument in func._schema.arguments]
        for care in range(CARES):

            def operand(name: str, value: Any, care: int = care) -> Any:
                return tree_map(lambda leaf: self._of_leaf(care, func, name, leaf), value)

            try:
                given = [operand(name, value) for name, value in zip(names, args, strict=False)]
                return func(*given, **{name: operand(name, one) for name, one in kwargs.items()})
            except (RuntimeError, ValueError, IndexError, NotImplementedError):
                continue
        return None

    def _of_leaf(self, care: int, func: Any, name: str, leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or not self._shadows.has(leaf):
            return leaf
        shadow = self._shadows.view(leaf)
        if name in written_names(func):
            return shadow
        return substitute(care, name, leaf, shadow, func._schema.name in CHECK_SHARES)


class _Pointers(TorchFunctionMode):
    """Notes the tensors whose addresses host code reads."""

    def __init__(self, shadows: Shadows) -> None:
        super().__init__()
        self._shadows = shadows

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.Tensor.data_ptr:
            self._shadows.exposed(args[0])
        return func(*args, **(kwargs or {}))


def _place(tensor: torch.Tensor) -> Place:
    return storage_of(tensor), tensor.itemsize


def _form(tensor: torch.Tensor) -> Any:
    return tensor.dtype, tensor.device, tensor.shape, tensor.stride(), tensor.storage_offset()


def _is_random(func: Any, args: Any, kwargs: Any) -> bool:
    """Returns True if the operation draws random numbers. Their values do not depend on kernels.
    Attention and recurrent networks draw them only for dropout."""
    if torch.Tag.nondeterministic_seeded not in func.tags:
        return False
    for position, argument in enumerate(func._schema.arguments):
        if argument.name in _DROPOUT:
            given = args[position] if position < len(args) else kwargs.get(argument.name)
            return bool(argument.default_value if given is None else given)
    return True

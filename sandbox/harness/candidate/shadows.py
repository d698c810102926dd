"""Computes what a submission's outputs would be without the results of its kernels, while the
submission runs as usual.

    shadows = Shadows()
    patch_launches(shadows.launch)  # `with shadows.launch(arguments)` is around each launch
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

A library, another thread, numpy or an operation of its own may also write to memory, unseen by this
mode of torch. Such a write counts as not made by a kernel. For this, each storage with a shadow has a
second copy, which is its contents after the last launch or operation that wrote to it. Before the
next one, and at the end, each byte that differs from this copy goes to the shadow too. Only a write
at the same time as a launch that got the memory looks like that of the kernel. So this module is not
enough: the judge also looks at a run in which no kernel is launched.

Host code runs in the same process and could find or avoid this object. The judge therefore also
checks that the ordinary outputs of this run are right. Not thread-safe."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from harness.wire.poison import fill_poison

# The names of parameters of torch's operations whose values must be valid indices. An invalid index
# would end the CUDA context.
INDICES = frozenset({"index", "indices", "sorter"})
# The names of integer parameters whose values the operation checks or trusts in another way.
CHECKED = frozenset(
    {
        "batch_sizes",
        "input_lengths",
        "lengths",
        "offset2bag",
        "offsets",
        "offs",
        "repeats",
        "target",
    }
    | {"target_lengths", "targets", "cum_seq_q", "cum_seq_k", "cu_seqlens_q", "cu_seqlens_k"}
    | {"seqused_k", "seqlen_k", "block_table"}
)
# These operations demand values between 0 and 1. Other values would end the CUDA context.
_SHARES = frozenset({"aten::binary_cross_entropy", "aten::binary_cross_entropy_backward"})
# These operations only assert something about values. On a GPU, a failure would end the CUDA context.
_ASSERTIONS = frozenset({"aten::_assert_async", "aten::_functional_assert_async"})
# These operations return memory that nothing was stored to.
_UNSTORED = frozenset(
    {"aten::empty", "aten::empty_like", "aten::empty_strided", "aten::empty_permuted"}
    | {"aten::new_empty", "aten::new_empty_strided"}
)
# The C library maps so much memory of the CPU anew each time (M_MMAP_THRESHOLD is at most 32 MiB), so
# it is zero. A model's constructor makes all of its weights there, and only a write to them would
# take memory: the case's weights replace them.
MAPPED_BYTES = 64 << 20
# The names of parameters that make an operation random, unless they are 0.
_DROPOUT = frozenset({"dropout_p", "dropout"})
# These operations change the memory of a tensor, and compute nothing.
_RESIZES = frozenset({"aten::set_", "aten::resize_", "aten::resize_as_"})
_CHUNK_BYTES = 64 << 20  # the bytes that are compared at once


@dataclass
class _Kept:
    storage: StorageWeakRef
    shadow: torch.UntypedStorage
    seen: torch.UntypedStorage  # the storage's contents after the last write that is accounted for


class Shadows:
    """The shadows of the storages of this process (see the module's docstring)."""

    def __init__(self) -> None:
        # Both map the identity of a storage. It is not reused while a weak reference exists.
        self._shadows: dict[int, _Kept] = {}
        self._exposed: dict[int, StorageWeakRef] = {}
        # Storages that were made while a CUDA graph was captured. Each replay makes them again.
        self._captured: dict[int, StorageWeakRef] = {}

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        with _Operations(self), _Pointers(self):
            yield

    @contextlib.contextmanager
    def launch(self, arguments: Any) -> Iterator[None]:
        """The context of a launch. Makes shadows of all storages that a kernel with these arguments
        may write. A kernel can also write a tensor whose address the host code has read, for example
        to put it into a table of pointers."""
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            self._forget_freed()
            reached = [_storage(tensor) for tensor in _tensors(arguments)]
            reached += [
                torch.UntypedStorage._new_with_weak_ptr(reference.cdata)  # type: ignore[attr-defined]
                for reference in self._exposed.values()
            ]
            self._make(*reached)
        try:
            yield
        finally:
            with torch._C.DisableTorchFunction(), _disable_current_modes():
                self._note(*reached)

    def exposed(self, tensor: torch.Tensor) -> None:
        """Notes that host code has read the tensor's address."""
        if (storage := _storage(tensor)) is not None:
            self._exposed[storage._cdata] = StorageWeakRef(storage)

    def has(self, tensor: torch.Tensor) -> bool:
        storage = _storage(tensor)
        return storage is not None and storage._cdata in self._shadows

    def make(self, *tensors: torch.Tensor) -> None:
        """Makes a shadow with the present contents of each tensor's storage, unless it has one. If
        it has one, takes over what was written to the storage unseen."""
        self._make(*map(_storage, tensors))

    def note(self, *tensors: torch.Tensor) -> None:
        """Says that the present contents of the tensors' storages are accounted for."""
        self._note(*map(_storage, tensors))

    def _make(self, *storages: torch.UntypedStorage | None) -> None:
        _settle(*storages)
        for storage in storages:
            if storage is None or not storage.nbytes():
                continue
            kept = self._shadows.get(storage._cdata)
            if kept is None:
                if _is_captured(storage) and storage._cdata not in self._captured:
                    # Each replay would copy the results of the replay before it into the shadow. So
                    # a kernel must run on the memory once before its launch is captured.
                    continue
                kept = _Kept(StorageWeakRef(storage), storage.clone(), storage.clone())
                self._shadows[storage._cdata] = kept
                continue
            if kept.shadow.nbytes() < storage.nbytes():  # the storage was resized
                kept.shadow = _enlarged(kept.shadow, storage)
                kept.seen = _enlarged(kept.seen, storage)
            _take_over(_bytes(storage), _bytes(kept.seen), _bytes(kept.shadow))

    def _note(self, *storages: torch.UntypedStorage | None) -> None:
        _settle(*storages)
        for storage in storages:
            kept = None if storage is None else self._shadows.get(storage._cdata)
            if storage is not None and kept is not None:
                size = min(storage.nbytes(), kept.seen.nbytes())
                _bytes(kept.seen)[:size] = _bytes(storage)[:size]

    def made(self, tensor: torch.Tensor) -> None:
        """Notes that an operation of torch has made the tensor's storage."""
        storage = _storage(tensor)
        if storage is not None and _is_captured(storage):
            self._captured[storage._cdata] = StorageWeakRef(storage)

    def put(self, tensor: torch.Tensor, shadow: torch.Tensor) -> None:
        """Makes the storage of `shadow` the shadow of the tensor's storage. The layouts must be
        equal."""
        self._forget_freed()
        storage, other = _storage(tensor), _storage(shadow)
        if storage is not None and other is not None:
            kept = _Kept(StorageWeakRef(storage), other, storage.clone())
            self._shadows[storage._cdata] = kept

    def view(self, tensor: torch.Tensor) -> torch.Tensor:
        """Returns a tensor with the layout of `tensor` that lies in the shadow. Returns `tensor`
        itself if it has no shadow."""
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            storage = _storage(tensor)
            if storage is None or storage._cdata not in self._shadows:
                return tensor
            self._make(storage)
            shadow = self._shadows[storage._cdata].shadow
            return torch.empty(0, dtype=tensor.dtype, device=tensor.device).set_(  # type: ignore[call-overload, no-any-return]
                shadow, tensor.storage_offset(), tuple(tensor.shape), tuple(tensor.stride())
            )

    def _forget_freed(self) -> None:
        alive = {at: one for at, one in self._shadows.items() if not one.storage.expired()}
        self._shadows = alive
        self._exposed = {at: one for at, one in self._exposed.items() if not one.expired()}
        self._captured = {at: one for at, one in self._captured.items() if not one.expired()}


def _is_mapped_anew(storage: torch.UntypedStorage) -> bool:
    return storage.device.type == "cpu" and storage.nbytes() >= MAPPED_BYTES


class _Operations(TorchDispatchMode):
    """Repeats torch's operations on the shadows."""

    def __init__(self, shadows: Shadows) -> None:
        super().__init__()
        self._shadows = shadows

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func._schema.name in _UNSTORED:
            # torch may give out memory that still contains the results of an earlier launch.
            result = func(*args, **kwargs)
            storage = _storage(result)
            if storage is not None and storage.nbytes() and not _is_mapped_anew(storage):
                fill_poison(_bytes(storage))
                self._shadows.made(result)
            return result
        operands = [one for one in tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)]
        if (
            func.is_view
            or func.namespace not in ("aten", "prims")
            or func._schema.name in _RESIZES | _ASSERTIONS
            or not any(map(self._shadows.has, operands))
        ):
            result = func(*args, **kwargs)
            if not func.is_view:
                self._note_made(result, operands)
            return result
        identities = {one._cdata for one in map(_storage, operands) if one is not None}
        written = _written(func, args, kwargs)
        self._shadows.make(*written, *filter(self._shadows.has, operands))
        repeated = None if _is_random(func, args, kwargs) else self._repeat(func, args, kwargs)
        result = func(*args, **kwargs)
        if repeated is None:  # the values are the same in both computations
            for tensor in written:
                self._shadows.view(tensor).copy_(tensor)
            self._shadows.note(*written)
            return result
        self._shadows.note(*written)
        for one, other in zip(tree_leaves(result), tree_leaves(repeated), strict=False):
            storage = _storage(one) if isinstance(one, torch.Tensor) else None
            if storage is None or storage._cdata in identities:
                continue
            if _form(one) == _form(other):  # a shape may depend on values; those are the kernels'
                self._shadows.put(one, other)
        return result

    def _note_made(self, result: Any, operands: list[torch.Tensor]) -> None:
        before = {storage._cdata for one in operands if (storage := _storage(one)) is not None}
        for one in tree_leaves(result):
            storage = _storage(one) if isinstance(one, torch.Tensor) else None
            if storage is not None and storage._cdata not in before:
                self._shadows.made(one)

    def _repeat(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Returns the result of the operation on shadows, or None if the operation refuses their
        values."""
        names = [argument.name for argument in func._schema.arguments]
        if func._schema.name in _SHARES:
            names = ["share" if name in ("self", "target") else name for name in names]
        given = [self._shadow_of(name, value) for name, value in zip(names, args, strict=False)]
        named = {name: self._shadow_of(name, value) for name, value in kwargs.items()}
        try:
            return func(*given, **named)
        except (RuntimeError, ValueError, IndexError, NotImplementedError):
            return None

    def _shadow_of(self, name: str, value: Any) -> Any:
        leaves, spec = tree_flatten(value)
        return tree_unflatten([self._of_leaf(name, leaf) for leaf in leaves], spec)

    def _of_leaf(self, name: str, leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or not self._shadows.has(leaf):
            return leaf
        if not (leaf.is_floating_point() or leaf.is_complex()):
            if name in INDICES:
                if torch.equal(self._shadows.view(leaf), leaf):
                    return leaf  # no kernel has changed it
                return leaf.reshape(-1).roll(1).reshape(leaf.shape)
            if name in CHECKED:
                return leaf
        shadow = self._shadows.view(leaf)
        return shadow.nan_to_num(0.5).clamp(0, 1) if name == "share" else shadow


class _Pointers(TorchFunctionMode):
    """Notes the tensors whose addresses host code reads."""

    def __init__(self, shadows: Shadows) -> None:
        super().__init__()
        self._shadows = shadows

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.Tensor.data_ptr:
            self._shadows.exposed(args[0])
        return func(*args, **(kwargs or {}))


def _storage(tensor: torch.Tensor) -> torch.UntypedStorage | None:
    """Returns the tensor's storage, or None if it has none."""
    with torch._C.DisableTorchFunction():
        if tensor.layout is not torch.strided or tensor.device.type == "meta":
            return None
        return torch.Tensor.untyped_storage(tensor)


def _bytes(storage: torch.UntypedStorage) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(  # type: ignore[call-overload, no-any-return]
        storage, 0, (storage.nbytes(),), (1,)
    )


def _settle(*storages: torch.UntypedStorage | None) -> None:
    """Waits until the GPU is idle: another stream may still write to a part of the storages. While
    operations are captured for a graph, nothing runs, and the graph repeats this module's work."""
    for device in {one.device for one in storages if one is not None}:
        if device.type == "cuda" and not torch.cuda.is_current_stream_capturing():
            torch.cuda.synchronize(device)


def _is_captured(storage: torch.UntypedStorage) -> bool:
    return storage.device.type == "cuda" and torch.cuda.is_current_stream_capturing()


def _enlarged(before: torch.UntypedStorage, storage: torch.UntypedStorage) -> torch.UntypedStorage:
    made = storage.clone()
    _bytes(made)[: before.nbytes()] = _bytes(before)
    return made


def _take_over(memory: torch.Tensor, seen: torch.Tensor, shadow: torch.Tensor) -> None:
    """Copies the bytes of `memory` that differ from `seen` to `shadow`, and then all to `seen`."""
    for parts in zip(*(one.split(_CHUNK_BYTES) for one in (memory, seen, shadow)), strict=False):
        size = min(part.numel() for part in parts)
        real, before, other = (part[:size] for part in parts)
        other.copy_(torch.where(real != before, real, other))
        before.copy_(real)


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


def _written(func: Any, args: Any, kwargs: Any) -> list[torch.Tensor]:
    """Returns the operands that the operation writes."""
    found: list[torch.Tensor] = []
    for position, argument in enumerate(func._schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        value = args[position] if position < len(args) else kwargs.get(argument.name)
        found += [one for one in tree_leaves(value) if isinstance(one, torch.Tensor)]
    return found


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    """Yields the tensors of a launch's argument. If the argument is a descriptor or a reinterpreted
    tensor, yields the tensor to which it refers."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _tensors(part)
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _tensors(part)
    elif (base := getattr(value, "base", None)) is not None:
        yield from _tensors(base)

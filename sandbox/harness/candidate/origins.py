"""Follows what torch has computed from the inputs, while a submission runs with shadows.

    origins = Origins(shadows)
    patch_launches(origins.launch)  # instead of shadows.launch, which it calls
    origins.give(tensors_of_the_case, structural=())
    with shadows.watching(), origins.watching():
        outputs = entry(*arguments)
    of_torch = [origins.is_of_torch(output) for output in outputs]

A launch plan contains no arithmetic by torch. On the host tier, torch may compute too, for example
to check a result. But an output may not depend on it: otherwise a kernel that only copies what
torch has computed would look like the work. So each storage has an origin, and an operation or a
launch passes on the highest origin of what it gets. Nobody knows what a kernel does with its
arguments, so each storage that a launch changes gets the highest origin of them.

These operations of torch pass on an origin, and all others that get data compute
(origin_modes.py):
  - fills, copies and conversions, as in a launch plan;
  - products with numbers of the host, quotients by them, and the negative;
  - selections by indices that a kernel has written.
An operation in whose place code of the submission runs computes.

Memory that changes unseen (by another thread, a library, or without torch's modes), and memory of
unknown origin, counts as torch's. To see such changes, each storage has a digest of its contents
after the last write that was seen. Numbers that host code has read, and numpy's arrays, count as
numbers of the host. But a second storage, or an array, that lies in known memory has the origin of
that memory.

What a CUDA graph does is known only as far as its capture was seen (captures.py).

Like Shadows, this object is in the submission's process. Several threads may launch kernels."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import _disable_current_modes

from harness.candidate.captures import Capture, Captures
from harness.candidate.hidden_memory import FreedMemory, HiddenMemory
from harness.candidate.operands import addresses_of, tensors_of
from harness.candidate.origin import Known, Origin
from harness.candidate.origin_modes import NumberOrigins, OperationOrigins
from harness.candidate.shadows import Shadows
from harness.candidate.storages import digest, is_captured, is_mapped_anew, settle, storage_of
from harness.entry.torch_kernels import TorchKernels

__all__ = ["Origin", "Origins"]

_SINGLE_BYTES = (
    16  # the size of the largest element: such memory of the CPU is a number of the host
)
# Other operations call these, and so do digests (storages.py).
_RELIED_ON = frozenset(
    {"aten::copy_", "aten::_to_copy", "aten::clone", "aten::lift_fresh", "aten::as_strided"}
    | {"aten::empty.memory_format", "aten::empty_strided", "aten::empty_like", "aten::zero_"}
    | {"aten::fill_.Scalar", "aten::set_.source_Storage_storage_offset", "aten::slice.Tensor"}
    | {"aten::view.dtype", "aten::arange.start", "aten::mul.Tensor", "aten::add.Tensor"}
    | {"aten::sum", "aten::add_.Tensor", "aten::_local_scalar_dense"}
)
# These are used around launches too, for example to compare memory.
_RELIED_ON_BY_LAUNCHES = frozenset(
    {"aten::eq.Tensor", "aten::all.dim", "aten::where.self", "aten::minimum", "aten::maximum"}
    | {"aten::masked_fill.Scalar", "aten::min", "aten::max", "aten::view", "aten::expand"}
    | {"aten::select.int", "aten::detach", "aten::resize_", "aten::index.Tensor"}
)

# What torch has registered before a submission is imported: a zygote imports this module.
_KERNELS = TorchKernels()
_RELIED_ON_KERNELS = TorchKernels(overloads=_RELIED_ON)
_KERNELS_OF_LAUNCHES = TorchKernels(overloads=_RELIED_ON_BY_LAUNCHES)


class Origins:
    """The origins of the storages of this process (see the module's docstring)."""

    def __init__(self, shadows: Shadows) -> None:
        self._shadows = shadows
        # The keys are identities of storages. None is reused while a weak reference exists.
        self._known: dict[int, Known] = {}
        self._captures = Captures()
        self._freed = FreedMemory()  # what torch has computed
        self._deceived = False  # an operation on which this object relies was not torch's own

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        captures = self._captures.watching(self._before_replay, self._after_replay)
        with NumberOrigins(self), OperationOrigins(self), captures:
            yield

    def runs_torchs_own(self, func: Any = None) -> bool:
        """Returns False if code of the submission runs in place of the operation. Returns False from
        then on if it ran in place of one that others call: it could have hidden anything."""
        self._deceived = self._deceived or not _RELIED_ON_KERNELS.all_unchanged()
        return not self._deceived and (func is None or _KERNELS.unchanged(func))

    def give(
        self, tensors: Iterable[torch.Tensor], structural: Sequence[torch.Tensor] = ()
    ) -> None:
        """Says that these tensors are a case's inputs. Host code may also compute with structural
        ones in a launch plan."""
        for tensor in tensors:
            self.note([tensor], Origin.DATA, whole=True)
        for tensor in structural:
            self.note([tensor], Origin.HOST, whole=True)

    def is_of_torch(self, tensor: torch.Tensor) -> bool:
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            return not self.runs_torchs_own() or self.origin(tensor) is Origin.TORCH

    @contextlib.contextmanager
    def launch(self, arguments: Any) -> Iterator[Any]:
        """The context of a launch, around that of the shadows."""
        with self._shadows.alone:
            with torch._C.DisableTorchFunction(), _disable_current_modes():
                self._forget_freed()
                reached = list(tensors_of(arguments))
            origin, before = Origin.HOST, []

            def look(found: list[torch.Tensor], unknown: bool) -> None:
                # The kernel gets what the copies contain now.
                nonlocal origin
                reached.extend(found)
                for tensor in reached:
                    origin = max(origin, self.origin(tensor, self._shadows.private(tensor)))
                    before.append(self._mark_of(tensor))
                inside = (_is_inside(address, reached) for address in addresses_of(arguments))
                own = self.runs_torchs_own() and _KERNELS_OF_LAUNCHES.all_unchanged()
                if unknown or not all(inside) or not own:
                    origin = Origin.TORCH

            with self._shadows.launch(arguments, look) as given, self._torchs_hidden(reached):
                yield given
            with torch._C.DisableTorchFunction(), _disable_current_modes():
                for tensor, mark in zip(reached, before, strict=True):
                    # Nobody but the kernel can write to the copy on which it worked.
                    contents = self._shadows.private(tensor)
                    if mark is None or contents is None or digest(contents) != mark:
                        self.note(
                            [tensor], max(origin, Origin.DATA), by_kernel=True, storage=contents
                        )

    @contextlib.contextmanager
    def _torchs_hidden(self, reached: Iterable[torch.Tensor]) -> Iterator[None]:
        """Hides what torch has computed, except memory that the kernel gets, which its results
        show."""
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            given = {one._cdata for one in map(storage_of, reached) if one is not None}
            hidden = HiddenMemory(
                _storage_of(known)
                for at, known in list(self._known.items())
                if known.origin is Origin.TORCH and at not in given and not known.storage.expired()
            )
        try:
            yield
        finally:
            with torch._C.DisableTorchFunction(), _disable_current_modes():
                hidden.show()

    def origin(self, tensor: torch.Tensor, contents: torch.UntypedStorage | None = None) -> Origin:
        """Returns the origin of the tensor's memory. Finds out whether it has changed unseen:
        `contents` is a copy of the memory, if that counts."""
        storage = storage_of(tensor)
        if storage is None:  # such as a sparse tensor, whose parts nothing follows
            return Origin.HOST if tensor.device.type == "meta" else Origin.TORCH
        if not storage.nbytes():
            return Origin.HOST
        known = self._known.get(storage._cdata)
        if known is None:
            self.note([tensor], self._of_new(storage), whole=True, storage=contents)
            known = self._known[storage._cdata]
        if is_captured(storage):
            return self._captures.current.read(known)
        return self._origin_now(known, storage, contents)

    def look(self, tensor: torch.Tensor) -> None:
        """Finds out whether the tensor's memory has changed unseen."""
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            storage = storage_of(tensor)
            if storage is None or not (storage._cdata in self._known and is_captured(storage)):
                self.origin(tensor)

    def by_kernel(self, tensor: torch.Tensor) -> bool:
        storage = storage_of(tensor)
        known = None if storage is None else self._known.get(storage._cdata)
        if known is None or storage is None or self.origin(tensor) is Origin.TORCH:
            return False
        return self._captures.current.by_kernel(known) if is_captured(storage) else known.by_kernel

    def of_memory(self, address: int, size: int) -> Origin:
        """Returns the highest origin of the storages that lie there, also in part."""
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            return max(
                (self._origin_now(known, one) for known, one in self._at(address, size)),
                default=Origin.HOST,
            )

    def note(
        self,
        tensors: Iterable[torch.Tensor],
        origin: Origin,
        whole: bool = False,
        by_kernel: bool = False,
        storage: torch.UntypedStorage | None = None,
    ) -> None:
        """Notes that something with this origin was written to the tensors. `whole` means that
        nothing is left of what was there. `storage` has the contents that were written, if others
        than the tensor's count."""
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            self._freed.clear()
            for tensor in tensors:
                own = storage_of(tensor)
                if own is None or not own.nbytes():
                    continue
                whole_one = whole or (
                    tensor.is_contiguous() and tensor.numel() * tensor.itemsize == own.nbytes()
                )
                known = self._known.get(own._cdata)
                if known is None or known.storage.expired():
                    first = Origin.HOST if is_captured(own) else origin
                    known = self._known[own._cdata] = Known(StorageWeakRef(own), first)
                if is_captured(own):  # only a replay writes
                    self._captures.current.write(known, origin, by_kernel)
                    continue
                known.origin = origin if whole_one else max(origin, known.origin)
                known.by_kernel = by_kernel
                if known.origin is Origin.TORCH:
                    self._freed.hold(own)
                self._mark(known, own if storage is None else storage)

    def _mark_of(self, tensor: torch.Tensor) -> int | None:
        storage = storage_of(tensor)
        known = None if storage is None else self._known.get(storage._cdata)
        return (
            None if known is None or (storage is not None and is_captured(storage)) else known.mark
        )

    @staticmethod
    def _mark(known: Known, storage: torch.UntypedStorage) -> None:
        settle(storage)
        known.mark = None if is_mapped_anew(storage) else digest(storage)

    @staticmethod
    def _origin_now(
        known: Known,
        storage: torch.UntypedStorage,
        contents: torch.UntypedStorage | None = None,
    ) -> Origin:
        if known.mark is None:  # such as the memory of a graph before its first replay
            return known.origin if is_mapped_anew(storage) else Origin.TORCH
        settle(storage)
        if (now := digest(storage if contents is None else contents)) != known.mark:
            known.origin, known.mark, known.by_kernel = Origin.TORCH, now, False
        return known.origin

    def _of_new(self, storage: torch.UntypedStorage) -> Origin:
        """Returns the origin of memory that nobody saw being made. A second storage may lie in
        memory that is known, such as one that numpy has passed on."""
        address, size = storage.data_ptr(), storage.nbytes()
        found = [one for _, one in self._at(address, size)]
        is_inside = any(
            one.data_ptr() <= address and address + size <= one.data_ptr() + one.nbytes()
            for one in found
        )
        own = Origin.HOST if is_inside or _is_of_host(storage) else Origin.TORCH
        return max(own, self.of_memory(address, size))

    def _at(self, address: int, size: int) -> Iterator[tuple[Known, torch.UntypedStorage]]:
        for known in list(self._known.values()):
            if not known.storage.expired():
                storage = _storage_of(known)
                start = storage.data_ptr()
                if start < address + size and address < start + storage.nbytes():
                    yield known, storage

    def _before_replay(self, capture: Capture) -> None:
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            reads = [one.known for one in capture.reads.values()]
            for known in reads + [one.known for one in capture.writes.values()]:
                if not known.storage.expired():
                    self._origin_now(known, _storage_of(known))

    def _after_replay(self, capture: Capture) -> None:
        """A replay of a CUDA graph writes what its captured operations have written."""
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            raised = capture.raised()
            for write in capture.writes.values():
                known = write.known
                if known.storage.expired():
                    continue
                storage = _storage_of(known)
                settle(storage)
                if known.mark is None or digest(storage) != known.mark:
                    known.origin = max(known.origin, write.origin, raised)
                    known.by_kernel = write.by_kernel
                    self._mark(known, storage)

    def _forget_freed(self) -> None:
        self._freed.clear()
        self._known = {at: one for at, one in self._known.items() if not one.storage.expired()}


def _is_inside(address: int | None, tensors: Iterable[torch.Tensor]) -> bool:
    storages = [one for tensor in tensors if (one := storage_of(tensor)) is not None]
    return address is not None and any(
        0 <= address - one.data_ptr() < one.nbytes() for one in storages
    )


def _storage_of(known: Known) -> torch.UntypedStorage:
    return torch.UntypedStorage._new_with_weak_ptr(known.storage.cdata)  # type: ignore[attr-defined, no-any-return]


def _is_of_host(storage: torch.UntypedStorage) -> bool:
    """Returns True for numpy's memory, and for a number that torch has made a tensor of."""
    if storage.device.type != "cpu":
        return False
    return not storage.resizable() or storage.nbytes() <= _SINGLE_BYTES

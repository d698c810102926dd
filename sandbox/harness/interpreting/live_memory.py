"""Gives every live storage an address that leads nowhere, and the memory behind it.

    live = LiveMemory()
    with live.watching():  # notes every storage that torch makes; data_ptr() gives such addresses
        run_user_code()
    starts, ends, blocks = live.ranges()  # sorted and disjoint, without freed storages
    at = live.memory_of(blocks[0])  # where a kernel's access to the first one has to go
    result = live.view(output, FULL)  # the same tensor with the device's values

Host code cannot use such an address, as it cannot use a GPU's. The addresses depend only on the
order in which storages are made, so they are the same in the ordinary run and in the ablated one.

Nor does host code have a device's values. A block whose values only the device knows has them in two
copies of its own, and the storage that host code can reach is a decoy. Kernels work in the copy
FULL. The copy WITHOUT never sees a kernel: it shows what host code alone makes of the inputs.
host_watch.py repeats the copies and fills of host code in both.

A range is a whole storage. It includes the parts that a view leaves out, as a buffer of a GPU does.
Storages are held weakly. For one thread."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves

PRUNE_AFTER = 4096  # freed storages are dropped after at most this many new ones
FIRST_ADDRESS = 0x2000_0000_0000  # below 2^47, and far from everything that Linux maps
ALIGNMENT = 512  # bytes, as CUDA's allocator promises
FULL, WITHOUT = 0, 1  # the copies of a block: with the results of kernels, and without them
COPIES = (FULL, WITHOUT)
GAP = 1 << 20  # bytes between two storages at least, so that a stray access meets no other tensor


@dataclass(eq=False)
class Block:
    """One storage, and the facts about its contents that the fence needs."""

    reference: StorageWeakRef
    start: int  # the address that code sees
    room: int  # bytes up to the next address that is given out
    device: bool = False  # only a device knows the values: host code may not read them
    placed: bool = False  # host code asked for memory of a device
    known: str = ""  # the name of the structural argument, whose values host code may read
    copies: list[torch.UntypedStorage] = field(default_factory=list)  # empty: the storage itself

    def storage(self) -> torch.UntypedStorage | None:
        """Returns None for a freed storage."""
        return torch.UntypedStorage._new_with_weak_ptr(self.reference.cdata)  # type: ignore[attr-defined, no-any-return]


class LiveMemory:
    """The live memory of this process (see the module's docstring)."""

    def __init__(self) -> None:
        # By the storage's identity, which is not reused while a weak reference exists.
        self._blocks: dict[int, Block] = {}
        self._ranges: tuple[list[int], list[int], list[Block]] | None = None
        self._next = FIRST_ADDRESS
        self._watchers = 0

    @property
    def watched(self) -> bool:
        """Returns True while allocations are noted. Otherwise the ranges are incomplete."""
        return self._watchers > 0

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        self._watchers += 1
        try:
            with _Results(self), _Pointers(self):
                yield
        finally:
            self._watchers -= 1

    def block(self, tensor: torch.Tensor) -> Block | None:
        """Returns the block of the tensor's storage, or None for a layout without a storage."""
        with torch._C.DisableTorchFunction():
            if tensor.layout is not torch.strided:
                return None
            storage = torch.Tensor.untyped_storage(tensor)
            found = self._blocks.get(storage._cdata)
            if found is None:
                if len(self._blocks) >= PRUNE_AFTER:
                    self.ranges()
                found = Block(StorageWeakRef(storage), *self._place(storage.nbytes()))
                self._blocks[storage._cdata] = found
                self._ranges = None
            return found

    def address(self, tensor: torch.Tensor) -> int:
        """Returns the address that code sees of the tensor's first element, or 0 without memory."""
        with torch._C.DisableTorchFunction():
            pointer, block = torch.Tensor.data_ptr(tensor), self.block(tensor)
            if pointer == 0 or block is None:
                return pointer
            storage = torch.Tensor.untyped_storage(tensor)
            self._fit(block, storage.nbytes())
            return block.start + pointer - storage.data_ptr()

    def memory_of(self, block: Block) -> int:
        """Returns the real address of the memory that kernels use for a live block."""
        storage = block.storage()
        if storage is None or block.known:
            return 0 if storage is None else _address(storage)
        return _address(self.copies_of(block)[FULL])

    def copies_of(self, block: Block) -> list[torch.UntypedStorage]:
        """Returns the copies of a live block. They begin with the storage's values."""
        storage = block.storage()
        if storage is not None and any(
            copy.nbytes() < storage.nbytes() for copy in block.copies or [torch.UntypedStorage(0)]
        ):
            with torch._C.DisableTorchFunction(), _disable_current_modes():
                block.copies = [storage.clone() for _ in COPIES]
        return block.copies

    def view(self, tensor: torch.Tensor, copy: int) -> torch.Tensor:
        """Returns the tensor's layout over a copy of its block, or the tensor if it has none."""
        block = self.block(tensor)
        if block is None or not block.copies:
            return tensor
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            return torch.empty(0, dtype=tensor.dtype).set_(  # type: ignore[call-overload, no-any-return]
                block.copies[copy],
                tensor.storage_offset(),
                tuple(tensor.shape),
                tuple(tensor.stride()),
            )

    def forget_freed(self) -> None:
        """Drops freed storages, which give no notice. Call it before a launch."""
        self._ranges = None

    def ranges(self) -> tuple[list[int], list[int], list[Block]]:
        if self._ranges is None:
            self._ranges = self._measure()
        return self._ranges

    def _place(self, nbytes: int) -> tuple[int, int]:
        start, room = self._next, (nbytes + GAP + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        self._next += room
        return start, room

    def _fit(self, block: Block, nbytes: int) -> None:
        if nbytes + GAP > block.room:  # it was resized
            block.start, block.room = self._place(nbytes)
            self._ranges = None

    def _measure(self) -> tuple[list[int], list[int], list[Block]]:
        found: list[tuple[int, int, Block]] = []
        for identity, block in list(self._blocks.items()):
            storage = block.storage()
            if storage is None:
                del self._blocks[identity]
            elif _address(storage) != 0:
                self._fit(block, storage.nbytes())
                found.append((block.start, block.start + storage.nbytes(), block))
        found.sort(key=lambda one: one[0])
        return [one[0] for one in found], [one[1] for one in found], [one[2] for one in found]


def _address(storage: torch.UntypedStorage) -> int:
    """Returns 0 if the storage has no memory. For wrapper subclasses and for zeros that were never
    made, torch reports that only by an exception."""
    try:
        return storage.data_ptr()
    except RuntimeError:
        return 0


class _Results(TorchDispatchMode):
    """Notes the results of operations. Views need no note: their memory is known already, or
    becomes known when code reads their pointer."""

    def __init__(self, live: LiveMemory) -> None:
        super().__init__()
        self._live = live

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if not func.is_view:
            for leaf in (result,) if isinstance(result, torch.Tensor) else tree_leaves(result):
                if isinstance(leaf, torch.Tensor):
                    self._live.block(leaf)
        return result


class _Pointers(TorchFunctionMode):
    """Answers `data_ptr()`."""

    def __init__(self, live: LiveMemory) -> None:
        super().__init__()
        self._live = live

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.Tensor.data_ptr:
            return self._live.address(args[0])
        return func(*args, **(kwargs or {}))

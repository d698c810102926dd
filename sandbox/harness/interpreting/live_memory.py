"""Gives every live storage a fake address, and manages the real memory that kernels use. A storage
with its fake address and its copies is a block.

    live = LiveMemory()
    with live.watching():  # registers new storages; data_ptr() returns fake addresses
        run_user_code()
    starts, ends, blocks = live.ranges()  # sorted and disjoint, without freed storages
    at = live.memory_of(blocks[0])  # the real address of the memory in which kernels access the block
    result = live.view(output, FULL)  # the same tensor with the device's values

Host code cannot access memory through a fake address, just as it cannot access a GPU's memory. The
addresses depend only on the sizes of the storages and on the order in which they are created. So
the addresses are the same in the ordinary run and in the ablated run, in which the results of
kernels are left out.

Host code cannot read a device's values either. If only the device knows the values of a block, the
values are in two copies of the storage. Host code cannot reach these copies; the storage itself has
other contents. Kernels work in the copy FULL. No kernel reads or writes the copy WITHOUT, so it
shows what host code alone computes from the inputs. When host code fills or copies a tensor,
host_watch.py repeats this operation in FULL and in WITHOUT.

A range is the fake addresses of a whole storage, including the parts that a view leaves out. This
module holds only weak references to storages, so it keeps none alive. Not thread-safe."""

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

PRUNE_AFTER = 4096  # from this number of storages on, adding a storage removes freed ones
FIRST_ADDRESS = 0x2000_0000_0000  # below 2^47, and far from every address that Linux maps
ALIGNMENT = 512  # in bytes; CUDA's allocator guarantees the same alignment
FULL, WITHOUT = 0, 1  # the copies of a block: with and without the results of kernels
COPIES = (FULL, WITHOUT)
# The minimum distance between two storages in bytes. It is large, so that an access outside of one
# tensor does not hit another tensor.
GAP = 1 << 20


@dataclass(eq=False)
class Block:
    """One storage, with the facts about its contents that decide which accesses are allowed."""

    reference: StorageWeakRef
    start: int  # the fake address
    room: int  # the number of bytes up to the next fake address
    device: bool = False  # only a device knows the values, so host code may not read them
    placed: bool = False  # host code requested this memory on a device
    known: str = ""  # the name of the structural argument whose values host code may read
    # The copies of the storage that kernels use. If the list is empty, kernels use the storage.
    copies: list[torch.UntypedStorage] = field(default_factory=list)

    def storage(self) -> torch.UntypedStorage | None:
        """Returns the storage, or None if it was freed."""
        return torch.UntypedStorage._new_with_weak_ptr(self.reference.cdata)  # type: ignore[attr-defined, no-any-return]


class LiveMemory:
    """The live storages of this process (see the module's docstring)."""

    def __init__(self) -> None:
        # Maps the storage's identity to its block. The identity is not reused while a weak
        # reference exists.
        self._blocks: dict[int, Block] = {}
        self._ranges: tuple[list[int], list[int], list[Block]] | None = None
        self._next = FIRST_ADDRESS
        self._watchers = 0

    @property
    def watched(self) -> bool:
        """Returns True inside `with live.watching()`, where allocations are logged. Elsewhere,
        ranges() is incomplete."""
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
        """Returns the block of the tensor's storage, or None if the tensor has no storage."""
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
        """Returns the fake address of the tensor's first element, or 0 if the tensor has no
        memory."""
        with torch._C.DisableTorchFunction():
            pointer, block = torch.Tensor.data_ptr(tensor), self.block(tensor)
            if pointer == 0 or block is None:
                return pointer
            storage = torch.Tensor.untyped_storage(tensor)
            self._fit(block, storage.nbytes())
            return block.start + pointer - storage.data_ptr()

    def memory_of(self, block: Block) -> int:
        """Returns the real address of the memory that kernels use for a block. Returns 0 if the
        storage was freed."""
        storage = block.storage()
        if storage is None or block.known:
            return 0 if storage is None else _address(storage)
        return _address(self.copies_of(block)[FULL])

    def copies_of(self, block: Block) -> list[torch.UntypedStorage]:
        """Returns the copies of a live block. New copies start with the storage's values."""
        storage = block.storage()
        if storage is not None and any(
            copy.nbytes() < storage.nbytes() for copy in block.copies or [torch.UntypedStorage(0)]
        ):
            with torch._C.DisableTorchFunction(), _disable_current_modes():
                block.copies = [storage.clone() for _ in COPIES]
        return block.copies

    def view(self, tensor: torch.Tensor, copy: int) -> torch.Tensor:
        """Returns a tensor that has the layout of `tensor` and that lies in the given copy of the
        block of `tensor`. Returns `tensor` itself if its block has no copies."""
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
        """Makes the next call of ranges() leave out freed storages. Call this before a launch,
        because LiveMemory does not notice when a storage is freed."""
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
        if nbytes + GAP > block.room:  # the storage was resized
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
    """Returns the real address of a storage, or 0 if the storage has no memory. torch raises an
    exception for the storages of wrapper subclasses and of zeros that were never allocated. These
    storages have no memory either."""
    try:
        return storage.data_ptr()
    except RuntimeError:
        return 0


class _Results(TorchDispatchMode):
    """Registers the results of operations. Views are not registered: their memory is already known,
    or becomes known when code reads their pointer."""

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
    """Answers calls of `data_ptr()` with fake addresses."""

    def __init__(self, live: LiveMemory) -> None:
        super().__init__()
        self._live = live

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.Tensor.data_ptr:
            return self._live.address(args[0])
        return func(*args, **(kwargs or {}))

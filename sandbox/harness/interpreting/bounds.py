"""Checks that an interpreted kernel accesses only memory that belongs to tensors, and translates
its addresses to that memory. A forbidden access raises OutOfBounds before it happens.

    bounds = Bounds(live_memory, refusals, layout_log)
    with bounds.launch({"x": x, "y": y, "n": 4099}):
        # translate() can raise OutOfBounds: "the load reads 3 elements outside of x (4,099 ..."
        real = bounds.translate("load reads", addresses, mask, element_bytes)

A kernel's addresses are those that live_memory.py assigns. `translate` returns the real addresses
of the bytes. A kernel may access every byte of every live storage, not only of the launch's
arguments, because kernels also find tensors through tensors of pointers. So an access to a part of
a storage that a view leaves out is allowed. The check needs the launch's arguments only for its
error message, which names the tensor that the kernel probably meant. A lane whose mask is false may
have any address.
"""

from __future__ import annotations

import contextlib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from harness.entry.errors import BadOutputs, OutOfBounds
from harness.entry.refusals import Refusals
from harness.interpreting.layout_log import LayoutLog
from harness.interpreting.live_memory import Block, LiveMemory

FAR_BYTES = 1 << 40  # an access this far from all arguments was not meant for any of them

_UNMASKED = "mask it (a block pointer: boundary_check)"
_MASKED = "its mask, or its descriptor's shape, lets them through"


@dataclass(frozen=True)
class _Span:
    """One argument: its storage extends from `start` to `end`, and its first element is at
    `pointer`."""

    name: str
    start: int
    end: int
    pointer: int
    view: bool

    def distance(self, address: int, size: int) -> int:
        return max(self.start - address, address + size - self.end, 0)

    def holds(self, addresses: np.ndarray[Any, Any], size: int) -> np.ndarray[Any, Any]:
        return (addresses >= self.start) & (addresses <= max(self.end - size, 0))

    def text(self, size: int) -> str:
        if not self.view:
            return f"{self.name} ({_elements((self.end - self.start) // size)})"
        first, last = (self.start - self.pointer) // size, (self.end - self.pointer) // size - 1
        return f"the memory that {self.name} is a view of (its elements {first:,} to {last:,})"


class Bounds:
    """Checks the memory accesses of kernels (see the module's docstring)."""

    def __init__(self, live: LiveMemory, refusals: Refusals, log: LayoutLog[Block]) -> None:
        self._live, self._refusals, self._log = live, refusals, log
        self._arguments: dict[str, Any] = {}

    @contextlib.contextmanager
    def launch(self, arguments: dict[str, Any]) -> Iterator[None]:
        """A context manager for one launch. `arguments` maps the names of the kernel's parameters
        to their values. Launches may nest, because a launch hook can launch another kernel."""
        if not self._live.watched:
            yield
            return
        outer, self._arguments = self._arguments, arguments
        found = [self._live.block(tensor) for _, tensor in _tensors("", list(arguments.values()))]
        blocks = [block for block in found if block is not None]
        for block in blocks:
            block.device = not block.known
        self._log.launch(blocks)
        self._live.forget_freed()
        try:
            yield
        finally:
            self._arguments = outer
            self._live.forget_freed()

    def translate(
        self,
        doing: str,
        addresses: np.ndarray[Any, Any],
        mask: Any,
        size: int,
        writes: bool = True,
    ) -> np.ndarray[Any, Any]:
        """Returns the real addresses. Raises OutOfBounds for a forbidden access. `mask` selects the
        addresses to check and to translate. It is anything that numpy converts to booleans, or
        None, which selects all addresses. `size` is the number of bytes at each address."""
        if addresses.size == 0 or not self._live.watched:
            return addresses
        flat = addresses.reshape(-1).astype(np.uint64, copy=False)
        masked = (
            np.ones(flat.shape, bool)
            if mask is None
            else np.broadcast_to(np.asarray(mask), addresses.shape)
            .reshape(-1)
            .astype(bool, copy=False)
        )
        touched = flat[masked]
        if touched.size == 0:
            return addresses
        real = flat.copy()
        real[masked] = self._real(doing, touched, size, writes, mask is None, bool(masked.all()))
        return real.reshape(addresses.shape)

    def _real(
        self,
        doing: str,
        touched: np.ndarray[Any, Any],
        size: int,
        writes: bool,
        unmasked: bool,
        all_lanes: bool,
    ) -> np.ndarray[Any, Any]:
        low, high = int(touched.min()), int(touched.max())
        starts, ends, blocks = self._live.ranges()
        at = bisect_right(starts, low) - 1
        if at >= 0 and high + size <= ends[at]:  # this is the usual case
            return touched + self._offset(blocks[at], writes)
        found, outside = self._find(touched, size)
        if outside.any():
            hint = "is an index too large?" if unmasked else _UNMASKED if all_lanes else _MASKED
            raise self._refusals.refuse(
                OutOfBounds(f"the {doing} " + self._explain(touched, outside, size, hint))
            )
        offsets = {at: self._offset(blocks[at], writes) for at in np.unique(found).tolist()}
        return touched + np.array([offsets[at] for at in found.tolist()], dtype=np.uint64)

    def _offset(self, block: Block, writes: bool) -> np.uint64:
        """Returns the distance from a block's fake addresses to its real memory, modulo 2^64. Also
        marks the block, so that host code may no longer read its values. The exception is a
        structural argument, whose values host code may always read (`known`). Raises BadOutputs for
        a write to a structural argument."""
        if block.known and writes:
            raise self._refusals.refuse(
                BadOutputs(
                    f"argument {block.known} was modified; the operator's spec has it as an input",
                    subject=block.known,
                )
            )
        block.device = not block.known
        return np.uint64((self._live.memory_of(block) - block.start) % (1 << 64))

    def _find(
        self, touched: np.ndarray[Any, Any], size: int
    ) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Returns the index of the range that contains each address, and a mask of the addresses
        that no range contains."""
        starts, ends = (np.array(bound, dtype=np.uint64) for bound in self._live.ranges()[:2])
        if starts.size == 0:
            return np.zeros(touched.shape, np.int64), np.ones(touched.shape, bool)
        at = np.searchsorted(starts, touched, side="right")
        found = np.maximum(at, 1) - 1
        inside = touched - starts[found] + np.uint64(size) <= ends[found] - starts[found]
        return found, (at == 0) | ~inside

    def _explain(
        self, touched: np.ndarray[Any, Any], outside: np.ndarray[Any, Any], size: int, too_high: str
    ) -> str:
        first = int(touched[outside][0])
        meant = _intended(
            [self._span(name, tensor) for name, tensor in _tensors("", self._arguments)],
            touched,
            outside,
            size,
        )
        if meant is None:
            count = _elements(int(outside.sum()))
            return f"{count} at addresses of no tensor, the first at {first:#x}: is a pointer wrong, or not written yet?"
        missed = touched[~meant.holds(touched, size)]
        at = int(missed[0])
        where = f"{_elements(missed.size)} outside of {meant.text(size)}, the first at element {(at - meant.pointer) // size:,}"
        return f"{where}: {'is an index negative?' if at < meant.start else too_high}"

    def _span(self, name: str, tensor: torch.Tensor) -> _Span:
        pointer = self._live.address(tensor)
        with torch._C.DisableTorchFunction():
            nbytes = torch.Tensor.untyped_storage(tensor).nbytes()
            size = tensor.element_size()
            start = pointer - tensor.storage_offset() * size
            whole = pointer == start and tensor.numel() * size == nbytes
            return _Span(name, start, start + nbytes, pointer, not whole)


def _intended(
    spans: list[_Span], touched: np.ndarray[Any, Any], outside: np.ndarray[Any, Any], size: int
) -> _Span | None:
    """Returns the argument that the kernel probably meant. It is the first of these that exists:
    the argument that the lane before the first wrong lane accesses, the argument that the lane
    after the wrong lanes accesses, the nearest argument. The argument that most lanes access would
    be a worse guess: a block that runs over the end of one tensor may cover the next tensor."""
    wrong = int(np.argmax(outside))
    right = np.flatnonzero(~outside)
    for neighbour in (*right[right < wrong][-1:], *right[right > wrong][:1]):
        for span in spans:
            if span.distance(int(touched[neighbour]), size) == 0:
                return span
    nearest = min(spans, key=lambda span: span.distance(int(touched[wrong]), size), default=None)
    return nearest if nearest and nearest.distance(int(touched[wrong]), size) <= FAR_BYTES else None


def _elements(count: int) -> str:
    return f"{count:,} element{'s' * (count != 1)}"


def _tensors(name: str, value: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """Yields the tensors of an argument. If the argument is a descriptor or a reinterpreted tensor,
    yields the tensor to which it refers."""
    if isinstance(value, torch.Tensor):
        yield name, value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _tensors(key, part)
    elif isinstance(value, tuple | list):
        for index, part in enumerate(value):
            yield from _tensors(f"{name}[{index}]", part)
    elif (base := getattr(value, "base", None)) is not None:
        yield from _tensors(name, base)

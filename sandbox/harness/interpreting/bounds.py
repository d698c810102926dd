"""Checks that an interpreted kernel accesses only memory of tensors. Otherwise it raises
OutOfBounds before the access.

    bounds = Bounds(live_memory)
    with bounds.launch({"x": x, "y": y, "n": 4099}):
        # OutOfBounds: "the load reads 3 elements outside of x (4,099 ..."
        bounds.check("load reads", addresses, mask, element_bytes)

Every byte of every live storage is allowed (live_memory.py), not only the launch's arguments,
because kernels also find tensors through tensors of pointers. So an access that strays from one
tensor right into another passes, and so does an access to a part of a storage that a view leaves
out. The launch's arguments serve only the message: they tell which tensor was missed. Lanes whose
mask is false may hold any address.
"""

from __future__ import annotations

import contextlib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from harness.entry.errors import OutOfBounds
from harness.interpreting.live_memory import LiveMemory

FAR_BYTES = 1 << 40  # an access this far from all arguments was meant for none of them

_UNMASKED = "mask it (a block pointer: boundary_check)"
_MASKED = "its mask, or its descriptor's shape, lets them through"


@dataclass(frozen=True)
class _Span:
    """An argument: its storage from `start` to `end`, its first element at `pointer`."""

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
    """Checks the accesses of kernels (see the module's docstring)."""

    def __init__(self, live: LiveMemory) -> None:
        self._live = live
        self._arguments: dict[str, Any] = {}

    @contextlib.contextmanager
    def launch(self, arguments: dict[str, Any]) -> Iterator[None]:
        """`arguments` maps the names of the kernel's parameters to their values. Launches may nest,
        because hooks can launch."""
        outer, self._arguments = self._arguments, arguments
        for _, tensor in _tensors("", list(arguments.values())):
            self._live.add(tensor)
        self._live.forget_freed()
        try:
            yield
        finally:
            self._arguments = outer
            self._live.forget_freed()

    def check(self, doing: str, addresses: np.ndarray[Any, Any], mask: Any, size: int) -> None:
        """Raises OutOfBounds for a forbidden access. `mask` selects addresses and may be anything
        that numpy converts to booleans; None selects all. `size` is the number of bytes at each
        address."""
        if addresses.size == 0 or not self._live.watched or self._inside(addresses, size):
            return
        flat = addresses.reshape(-1).astype(np.uint64, copy=False)
        masked = (
            np.ones(flat.shape, bool)
            if mask is None
            else np.asarray(mask).reshape(-1).astype(bool, copy=False)
        )
        touched = flat[masked]
        if touched.size == 0 or self._inside(touched, size):
            return
        outside = self._outside(touched, size)
        if outside.any():
            hint = (
                "is an index too large?" if mask is None else _UNMASKED if masked.all() else _MASKED
            )
            raise OutOfBounds(f"the {doing} " + self._explain(touched, outside, size, hint))

    def _inside(self, addresses: np.ndarray[Any, Any], size: int) -> bool:
        """Returns True if all addresses are in one range: a fast check of the usual case."""
        low, high = (
            (int(addresses.min()), int(addresses.max()))
            if addresses.size > 1
            else (int(addresses.item()),) * 2
        )
        starts, ends = self._live.ranges()
        at = bisect_right(starts, low) - 1
        return at >= 0 and high + size <= ends[at]

    def _outside(self, touched: np.ndarray[Any, Any], size: int) -> np.ndarray[Any, Any]:
        """Returns a mask of the addresses that are in no range."""
        starts, ends = (np.array(bound, dtype=np.uint64) for bound in self._live.ranges())
        if starts.size == 0:
            return np.ones(touched.shape, bool)
        at = np.searchsorted(starts, touched, side="right")
        found = np.maximum(at, 1) - 1
        return (at == 0) | (touched - starts[found] + np.uint64(size) > ends[found] - starts[found])  # type: ignore[no-any-return]

    def _explain(
        self, touched: np.ndarray[Any, Any], outside: np.ndarray[Any, Any], size: int, too_high: str
    ) -> str:
        first = int(touched[outside][0])
        meant = _intended(
            [_span(name, tensor) for name, tensor in _tensors("", self._arguments)],
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


def _intended(
    spans: list[_Span], touched: np.ndarray[Any, Any], outside: np.ndarray[Any, Any], size: int
) -> _Span | None:
    """Returns the argument that the kernel probably meant: the one that the lane before the first
    wrong lane accesses, else the lane after the wrong ones, else the nearest one.

    It is not the one that most lanes access: a block that overruns one tensor may cover another one
    behind it.
    """
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
    """Yields the tensors of an argument. A descriptor or a reinterpreted tensor counts as the
    tensor that it refers to."""
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


def _span(name: str, tensor: torch.Tensor) -> _Span:
    with torch._C.DisableTorchFunction():
        storage = torch.Tensor.untyped_storage(tensor)
        start, pointer = storage.data_ptr(), torch.Tensor.data_ptr(tensor)
        whole = pointer == start and tensor.numel() * tensor.element_size() == storage.nbytes()
        return _Span(name, start, start + storage.nbytes(), pointer, not whole)

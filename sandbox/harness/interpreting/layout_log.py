"""Logs torch's copies between buffers, and the buffers that the submission's kernels use. Tells
whether the copies changed the order of the elements on the way to an output.

    log = LayoutLog()
    log.move(target, source)  # torch copies one view to another
    log.launch(["x", "y"])  # a kernel may read and write these buffers
    if log.reordered([output]): ...

For an operator of family `layout`, the order of the elements is the whole work, so torch must not
change it. Other copies are allowed: they pad, cut off, convert, or move a block. The launcher
applies the same rules to launch plans (sandbox/launcher/plan/layout.h). The rules are:
  - Each copy keeps the order of its elements in memory.
  - All copies into a buffer come from one other buffer, and together they keep the order.
  - The copies out of a buffer read parts that do not overlap.
  - An output has its elements in memory in the order of its indices.
Only copies on the way to an output count. If one argument of a kernel is on this way, the kernel
may have filled it from all its other arguments, so these other arguments are on the way too. Not
thread-safe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, TypeVar

from harness.entry.order import keeps_order

Key = TypeVar("Key")


@dataclass(frozen=True)
class View(Generic[Key]):
    """A strided view of a buffer. The offset and the strides are in bytes."""

    buffer: Key
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    element_bytes: int

    @property
    def end(self) -> int:
        reach = sum((n - 1) * step for n, step in zip(self.shape, self.strides, strict=True))
        return self.offset + reach + self.element_bytes


@dataclass(frozen=True)
class _Span(Generic[Key]):
    """One side of a copy: the bytes that the copy touches in a buffer, and the other side's
    buffer."""

    start: int
    end: int
    other: Key
    other_start: int
    other_end: int


class LayoutLog(Generic[Key]):
    """The copies and the launches of one call (see the module's docstring)."""

    def __init__(self) -> None:
        self._events: list[tuple[View[Key], View[Key]] | frozenset[Key]] = []

    def begin(self) -> None:
        self._events.clear()

    def move(self, target: View[Key], source: View[Key]) -> None:
        if all(target.shape):
            self._events.append((target, source))

    def launch(self, buffers: Iterable[Key]) -> None:
        self._events.append(frozenset(buffers))

    def reordered(self, outputs: Sequence[View[Key]]) -> bool:
        """Returns True if torch's copies or the strides of an output changed the order of the
        elements."""
        if any(not _in_index_order(output) for output in outputs):
            return True
        found = self._moves_to({output.buffer for output in outputs})
        if any(
            not keeps_order(target.shape, target.strides, source.strides)
            for target, source in found
        ):
            return True
        into, out_of = _spans(found), _spans([(source, target) for target, source in found])
        return any(map(_disorders, into.values())) or any(map(_overlap, out_of.values()))

    def _moves_to(self, reached: set[Key]) -> list[tuple[View[Key], View[Key]]]:
        """Returns the copies whose elements may reach one of these buffers."""
        found: list[tuple[View[Key], View[Key]]] = []
        for event in reversed(self._events):
            if isinstance(event, frozenset):
                if event & reached:
                    reached |= event
            elif event[0].buffer in reached:
                reached.add(event[1].buffer)
                found.append(event)
        return found


def _in_index_order(view: View[Key]) -> bool:
    dense = [1] * len(view.shape)
    for dim in reversed(range(len(view.shape) - 1)):
        dense[dim] = dense[dim + 1] * max(view.shape[dim + 1], 1)
    return keeps_order(view.shape, dense, view.strides)


def _spans(pairs: Iterable[tuple[View[Key], View[Key]]]) -> dict[Key, set[_Span[Key]]]:
    """Takes the first view of each pair. Returns the parts that these views cover, by buffer."""
    found: dict[Key, set[_Span[Key]]] = {}
    for one, other in pairs:
        found.setdefault(one.buffer, set()).add(
            _Span(one.offset, one.end, other.buffer, other.offset, other.end)
        )
    return found


def _disorders(into: set[_Span[Key]]) -> bool:
    parts = sorted(into, key=lambda span: (span.start, span.end))
    if len({span.other for span in parts}) > 1:
        return True
    return any(
        after.start < before.end or after.other_start < before.other_end
        for before, after in pairwise(parts)
    )


def _overlap(out_of: set[_Span[Key]]) -> bool:
    parts = sorted({(span.start, span.end) for span in out_of})
    return any(after[0] < before[1] for before, after in pairwise(parts))

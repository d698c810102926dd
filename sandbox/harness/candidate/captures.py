"""What CUDA graphs write when they are replayed (origins.py).

    captures = Captures()
    with captures.watching(before=look_at_memory, after=note_changes):
        ...  # captures.current is the capture that has begun last

A capture writes nothing. So an operation that is captured changes no origin before a replay, and a
graph may read at each replay what the host has written since its capture.

Operations of a graph that nobody saw during its capture are not known. They may be in a graph beside
operations that were seen, and what such a graph writes to their memory counts as theirs."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from harness.candidate.origin import Known, Origin


@dataclass
class Write:
    known: Known
    origin: Origin
    by_kernel: bool


@dataclass
class _Read:
    known: Known
    origin: Origin  # the lowest one that a captured operation saw
    is_of_graph: bool  # the capture has allocated the memory


@dataclass
class Capture:
    """What the operations of a graph read and write. The keys are identities of Known objects."""

    reads: dict[int, _Read] = field(default_factory=dict)
    writes: dict[int, Write] = field(default_factory=dict)

    def read(self, known: Known) -> Origin:
        """Notes that an operation reads the memory. Returns its origin at this place of the
        graph."""
        write = self.writes.get(id(known))
        origin = known.origin if write is None else max(write.origin, known.origin)
        read = self.reads.setdefault(id(known), _Read(known, origin, known.mark is None))
        read.origin = min(read.origin, origin)
        return origin

    def write(self, known: Known, origin: Origin, by_kernel: bool) -> None:
        write = self.writes.setdefault(id(known), Write(known, origin, by_kernel))
        write.origin, write.by_kernel = max(origin, write.origin), by_kernel

    def by_kernel(self, known: Known) -> bool:
        write = self.writes.get(id(known))
        return known.by_kernel if write is None else write.by_kernel

    def raised(self) -> Origin:
        """Returns the highest origin that memory which the graph reads has got since the capture."""
        highest = Origin.HOST
        for read in self.reads.values():
            now = read.known.origin
            if read.known.storage.expired():
                # Other memory may be in its place. The graph keeps only what it has allocated.
                now = read.origin if read.is_of_graph else Origin.TORCH
            if now > read.origin:
                highest = max(highest, now)
        return highest


class Captures:
    def __init__(self) -> None:
        self._of_graphs: weakref.WeakKeyDictionary[Any, Capture] = weakref.WeakKeyDictionary()
        self.current = Capture()  # of no graph, so that no replay finds it

    @contextlib.contextmanager
    def watching(
        self, before: Callable[[Capture], None], after: Callable[[Capture], None]
    ) -> Iterator[None]:
        """Calls `before` and `after` around each replay of a graph whose capture was seen."""
        graph = torch.cuda.CUDAGraph
        begin, replay = graph.capture_begin, graph.replay

        def captured(one: Any, *args: Any, **kwargs: Any) -> None:
            self.current = self._of_graphs[one] = Capture()
            begin(one, *args, **kwargs)

        def replayed(one: Any) -> None:
            capture = self._of_graphs.get(one, Capture())
            before(capture)
            replay(one)
            after(capture)

        graph.capture_begin, graph.replay = captured, replayed  # type: ignore[method-assign]
        try:
            yield
        finally:
            graph.capture_begin, graph.replay = begin, replay  # type: ignore[method-assign]

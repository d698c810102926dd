"""Splits strided views into contiguous pieces of bytes, for the fills and copies of a plan.

    runs((2, 3), (8, 1), 4)  # [(0, 12), (32, 12)]
    matched([(0, 24)], [(0, 12), (32, 12)])  # (0, 0, 12), (12, 32, 12)

All functions are pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

MAX_RUNS = 16  # the maximum number of pieces in one fill or copy; beyond it a kernel does the work


def runs(
    shape: Sequence[int], strides: Sequence[int], itemsize: int
) -> list[tuple[int, int]] | None:
    """Returns the bytes of a strided view as (offset, size) pieces in index order. Adjacent pieces
    are joined. Returns None if there are more than MAX_RUNS pieces."""
    dims = [(extent, stride) for extent, stride in zip(shape, strides, strict=True) if extent != 1]
    size = itemsize
    while dims and dims[-1][1] * itemsize == size:
        size *= dims.pop()[0]
    offsets = [0]
    for extent, stride in dims:
        if len(offsets) * extent > MAX_RUNS:
            return None
        offsets = [offset + i * stride * itemsize for offset in offsets for i in range(extent)]
    return [(offset, size) for offset in offsets]


def matched(
    to_pieces: list[tuple[int, int]], from_pieces: list[tuple[int, int]]
) -> Iterator[tuple[int, int, int]]:
    """Walks two lists of pieces in parallel. Both lists have the same total size. Yields (target
    offset, source offset, size)."""
    i = j = to_done = from_done = 0
    while i < len(to_pieces) and j < len(from_pieces):
        size = min(to_pieces[i][1] - to_done, from_pieces[j][1] - from_done)
        yield to_pieces[i][0] + to_done, from_pieces[j][0] + from_done, size
        to_done, from_done = to_done + size, from_done + size
        if to_done == to_pieces[i][1]:
            i, to_done = i + 1, 0
        if from_done == from_pieces[j][1]:
            j, from_done = j + 1, 0
